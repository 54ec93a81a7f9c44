// The button of a session, in Python or a shell, copies what was typed, without prompts and answers.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest?.("[data-clipboard-target]");
    const text = button && document.querySelector(button.dataset.clipboardTarget)?.textContent;
    if (!text || !/^(>>>|\$) /m.test(text)) return;
    const typed = [];
    let goesOn = false; // a command of the shell, after a backslash
    for (const line of text.split("\n")) {
      const prompt = /^(>>> |\.\.\. ?|\$ )/.exec(line)?.[0] ?? "";
      if (prompt || goesOn) typed.push(line.slice(prompt.length));
      goesOn = (prompt === "$ " || goesOn) && line.endsWith("\\");
    }
    button.dataset.clipboardText = typed.join("\n") + "\n";
  },
  true,
);
