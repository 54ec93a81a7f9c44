"""The texts of the interface in English and Persian. A page adds its texts here.

A text may have {placeholders}. Names of models, words and numbers are not translated.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from firth.errors import OptionError, suggest
from firth.explorer.plot_texts import PLOT_TEXTS

Language = Literal["en", "fa"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
DIRECTIONS: dict[Language, str] = {"en": "ltr", "fa": "rtl"}
NAMES: dict[Language, str] = {"en": "English", "fa": "فارسی"}

TEXTS: dict[str, tuple[str, str]] = {
    # the frame
    "menu": ("Pages", "صفحه‌ها"),
    "skip": ("Skip to the content", "پرش به محتوا"),
    "theme": ("Light or dark", "روشن یا تیره"),
    "language": ("Language", "زبان"),
    "joiners": ("ZWNJ", "نیم‌فاصله"),
    "joiners-about": ("Show half spaces (ZWNJ)", "نمایش نیم‌فاصله‌ها"),
    "model": ("Model", "مدل"),
    "other-model": ("Compare with", "مقایسه با"),
    "none": ("none", "هیچ‌کدام"),
    "working": ("Computing …", "در حال محاسبه …"),
    "warming": (
        "Preparing in the background: {step}. The first answer may take longer.",
        "آماده‌سازی در پس‌زمینه: {step}. نخستین پاسخ شاید دیرتر برسد.",
    ),
    "warming-words": ("neighbor search", "جست‌وجوی همسایه‌ها"),
    "warming-elmo": ("ELMo", "ELMo"),
    "warming-counts": ("counting", "شمارش"),
    "warming-ngram": ("n-grams", "n-gram"),
    "copy": ("Copy as Python", "رونوشت به پایتون"),
    "python": ("The same in Python", "همین در پایتون"),
    "copied": ("Copied", "رونوشت شد"),
    "error": ("That did not work", "انجام نشد"),
    "error-unexpected": (
        "An unexpected error: {error}. The terminal where firth explore runs shows more.",
        "خطای پیش‌بینی‌نشده: {error}. جزئیات در پایانه‌ای است که firth explore در آن اجرا می‌شود.",
    ),
    "unknown-word": ("“{word}” is not in {model}", "«{word}» در {model} نیست"),
    "near-spellings": ("Near spellings", "واژه‌های هم‌نویسه"),
    "no-model": ("No model for this page", "مدلی برای این صفحه نیست"),
    "no-model-cure": (
        "This page needs {need}. Start the explorer with one: `firth explore MODEL`",
        "این صفحه {need} لازم دارد. کاوشگر را با آن آغاز کنید: `firth explore MODEL`",
    ),
    "gone": ("The explorer is not running", "کاوشگر در حال اجرا نیست"),
    "gone-cure": (
        "Start it again with: firth explore. This page reconnects by itself.",
        "دوباره اجرایش کنید: firth explore. این صفحه خودش دوباره وصل می‌شود.",
    ),
    "refused": ("The explorer was started again", "کاوشگر دوباره آغاز شده است"),
    "refused-cure": (
        "Open the address that it printed: it has a new token. This page then continues by itself.",
        "نشانی‌ای را که چاپ کرده است باز کنید: رمز تازه‌ای دارد. این صفحه سپس خودش ادامه می‌یابد.",
    ),
    # a browser that has no cookie, or did not send it
    "token-missing": (
        "Open the address that firth explore printed",
        "نشانی‌ای را باز کنید که firth explore چاپ کرده است",
    ),
    "token-missing-cure": (
        "It has a token, by which the explorer knows your browser.",
        "رمزی در آن است که کاوشگر مرورگر شما را با آن می‌شناسد.",
    ),
    "token-foreign": (
        "You followed a link of another page. If the explorer was open in this browser before:",
        "از پیوند صفحهٔ دیگری آمده‌اید. اگر کاوشگر پیش‌تر در این مرورگر باز بوده است:",
    ),
    "token-again": ("open this page", "این صفحه را باز کنید"),
    "too-long": (
        "The text was too long: its first {limit} characters were kept.",
        "متن بلند بود: {limit} نویسهٔ نخست آن نگه داشته شد.",
    ),
    # problems: the category of an error of the library, and what to do
    "error-option": ("That value cannot be used", "این مقدار پذیرفتنی نیست"),
    "error-option-cure": ("Change it and try again.", "آن را تغییر دهید و دوباره بیازمایید."),
    "error-format": ("A file cannot be read", "پرونده‌ای خوانده نشد"),
    "error-format-cure": (
        "The file is broken or of another kind. Make or download it again.",
        "پرونده خراب یا از گونه‌ای دیگر است. دوباره بسازیدش یا بگیریدش.",
    ),
    "error-file": ("A file is missing", "پرونده‌ای در جای خود نیست"),
    "error-file-cure": (
        "Put it back, or start the explorer without it.",
        "آن را به جایش برگردانید یا کاوشگر را بدون آن آغاز کنید.",
    ),
    "error-extra": ("A part of firth is not installed", "بخشی از firth نصب نیست"),
    "error-extra-cure": (
        "Install it with the command above and start the explorer again.",
        "با فرمان بالا نصبش کنید و کاوشگر را دوباره آغاز کنید.",
    ),
    # problems of the explorer itself
    "problem-model": (
        "the explorer has no model {name!r}. There are: {names}",
        "کاوشگر مدلی به نام «{name}» ندارد. این‌ها هستند: {names}",
    ),
    "problem-model-near": (
        "the explorer has no model {name!r}. Did you mean {near!r}?",
        "کاوشگر مدلی به نام «{name}» ندارد. شاید «{near}» را می‌خواستید.",
    ),
    "problem-kind": (
        "the model {name} is not of the kind that this page needs. There are: {names}",
        "{name} از گونه‌ای نیست که این صفحه لازم دارد. این‌ها هستند: {names}",
    ),
    "problem-empty-model": (
        "the model {name} has no words. Choose another model",
        "{name} هیچ واژه‌ای ندارد. مدل دیگری برگزینید",
    ),
    "problem-no-vectors": (
        "the model {name} has no word vectors, so that it has no map. Choose a model of words",
        "{name} بردار واژه ندارد و نقشه‌ای هم ندارد. مدلی از واژه‌ها برگزینید",
    ),
    "problem-unfinished": (
        "the map is not finished. Wait, and try again",
        "نقشه هنوز آماده نیست. کمی صبر کنید و دوباره بیازمایید",
    ),
    "problem-sentence-empty": ("the sentence has no words. Type some", "جمله واژه‌ای ندارد. چیزی بنویسید"),
    "problem-sentence-long": (
        "the sentence has {count:,} words. Use at most {most}",
        "جمله {count:,} واژه دارد. دست‌بالا {most} واژه بدهید",
    ),
    "problem-text-empty": ("the text has no words. Type some", "متن واژه‌ای ندارد. چیزی بنویسید"),
    "problem-text-short": (
        "no line of the text has two words. A window needs two",
        "هیچ سطری از متن دو واژه ندارد. پنجره دو واژه می‌خواهد",
    ),
    "problem-text-long": (
        "the text has {count:,} words. Use at most {most}",
        "متن {count:,} واژه دارد. دست‌بالا {most} واژه بدهید",
    ),
    "problem-pasted": (
        "the pasted text is no longer in memory. Paste it again",
        "متن دیگر در حافظه نیست. دوباره بچسبانیدش",
    ),
    "problem-index": (
        "the model {name} is no index of a text. Make one with: firth index MODEL TEXT --out INDEX",
        "{name} نمایهٔ متن نیست. نمایه را چنین بسازید: \u2066firth index MODEL TEXT --out INDEX\u2069",
    ),
    "problem-words": ("no word is given. Type one or two", "واژه‌ای داده نشده است. یک یا دو واژه بنویسید"),
    "problem-pattern": (
        "{pattern!r} is not a regular expression: {reason}",
        "\u2066{pattern}\u2069 عبارت باقاعده نیست: \u2066{reason}\u2069",
    ),
    "problem-script": (
        "Most words are in a script that the model was not made for: the answer is unreliable.",
        "بیشتر واژه‌ها به خطی‌اند که مدل برای آن ساخته نشده است: به پاسخ نمی‌توان تکیه کرد.",
    ),
    # an address without a page
    "missing": ("No such page", "چنین صفحه‌ای نیست"),
    "missing-about": (
        "The explorer has no page at this address. These are its pages.",
        "کاوشگر در این نشانی صفحه‌ای ندارد. صفحه‌ها این‌ها هستند.",
    ),
    "missing-near": ("Did you mean", "شاید این را می‌خواستید"),
    "run": ("Run", "اجرا"),
    "examples": ("Examples", "نمونه‌ها"),
    # groups of pages
    "group-words": ("Words", "واژه‌ها"),
    "group-context": ("Words in context", "واژه در متن"),
    "group-text": ("From text to vectors", "از متن تا بردار"),
    # needs of pages
    "need-words": ("word vectors", "بردار واژه"),
    "need-subwords": ("a fastText model", "مدل fastText"),
    "need-bilm": ("an ELMo model", "مدل ELMo"),
    "need-training": ("a training or its log", "یک آموزش یا گزارش آن"),
    "need-counts": ("co-occurrence counts", "شمارش هم‌رخدادی"),
    # home
    "home": ("Home", "خانه"),
    "home-about": ("See what words mean to a machine.", "ببینید واژه‌ها برای ماشین چه معنایی دارند."),
    "home-models": ("Open models", "مدل‌ها"),
    "kind-word-vectors": ("word vectors", "بردارهای واژه"),
    "kind-subword-vectors": ("fastText: words and n-grams", "fastText: واژه‌ها و زیرواژه‌ها"),
    "kind-document-vectors": ("vectors of documents", "بردارهای سند"),
    "kind-bilm": ("ELMo: a biLM", "ELMo: مدل زبانی دوسویه"),
    "kind-ngram": ("n-gram language model", "مدل زبانی n-gram"),
    "kind-count-matrix": ("counts", "شمارش‌ها"),
    "kind-occurrences": ("index of a text", "نمایهٔ یک متن"),
    "kind-task": ("task", "وظیفه"),
    "kind-training": ("training", "آموزش"),
    # neighbors
    "neighbors": ("Neighbors", "همسایه‌ها"),
    "neighbors-about": ("The words nearest to a word, by cosine.", "نزدیک‌ترین واژه‌ها به یک واژه، با کسینوس."),
    "neighbors-word": ("Word or words", "واژه یا واژه‌ها"),
    "neighbors-minus": ("Minus", "منهای"),
    "neighbors-empty": ("Type a word and press Enter.", "واژه‌ای بنویسید و Enter را بزنید."),
    "neighbors-count": ("Number of neighbors", "شمار همسایه‌ها"),
    "neighbors-frequent": ("Among the most frequent", "از میان پربسامدترین‌ها"),
    "neighbors-all": ("all words", "همهٔ واژه‌ها"),
    "neighbors-least": ("Occurrences, at least", "دست‌کم شمار رخداد"),
    "neighbors-any": ("any number", "هر شمار"),
    "neighbors-pattern": ("Matching (regular expression)", "سازگار با (عبارت باقاعده)"),
    "neighbors-none": ("No word passes these filters.", "هیچ واژه‌ای از این صافی‌ها نمی‌گذرد."),
    "neighbors-shared": ("{count} of {total} neighbors are in both", "{count} همسایه از {total} در هر دو هست"),
    "neighbors-unseen": (
        "“{word}” is not in the vocabulary: its vector is composed of its character n-grams.",
        "«{word}» در واژگان نیست: بردار آن از تکه‌های نویسه‌ای‌اش ساخته شده است.",
    ),
    # tasks
    "tasks": ("Tasks", "وظیفه‌ها"),
    "tasks-about": (
        "Six small models on your text: names, roles, coreference, answers, entailment and sentiment. "
        "The pretrained ones read English.",
        "شش مدل کوچک روی متن شما: نام‌ها، نقش‌ها، هم‌مرجعی، پاسخ، استلزام و احساس. مدل‌های آماده برای انگلیسی‌اند.",
    ),
    "task-ner": ("Names", "نام‌ها"),
    "task-srl": ("Roles", "نقش‌ها"),
    "task-coref": ("Coreference", "هم‌مرجعی"),
    "task-qa": ("Questions", "پرسش"),
    "task-entailment": ("Entailment", "استلزام"),
    "task-sentiment": ("Sentiment", "احساس"),
    "task-ner-about": (
        "Named entity recognition: which words name a person, an organization, a place.",
        "بازشناسی نام‌ها: کدام واژه‌ها نام شخص، سازمان یا جای‌اند.",
    ),
    "task-srl-about": (
        "Semantic role labeling: who does what to whom, when and where, for each predicate.",
        "برچسب‌گذاری نقش‌های معنایی: چه کسی، چه کاری، با چه کسی، کی و کجا، برای هر گزاره.",
    ),
    "task-coref-about": (
        "Coreference resolution: which mentions are the same person or thing.",
        "تشخیص هم‌مرجعی: کدام عبارت‌ها به یک شخص یا چیز برمی‌گردند.",
    ),
    "task-qa-about": (
        "Question answering: the answer as a span of the passage.",
        "پاسخ به پرسش: پاسخ، تکه‌ای از متن است.",
    ),
    "task-entailment-about": (
        "Textual entailment: whether the hypothesis follows from the premise.",
        "استلزام متنی: آیا فرضیه از مقدمه نتیجه می‌شود؟",
    ),
    "task-sentiment-about": (
        "Sentiment classification in five classes.",
        "دسته‌بندی احساس در پنج رده.",
    ),
    "tasks-passage": ("Passage", "متن"),
    "tasks-premise": ("Premise", "مقدمه"),
    "tasks-question": ("Question", "پرسش"),
    "tasks-hypothesis": ("Hypothesis", "فرضیه"),
    "tasks-empty": ("Type or paste a text, or take an example.", "متنی بنویسید یا بچسبانید، یا نمونه‌ای بردارید."),
    "tasks-no-predicate": ("No predicate was found.", "گزاره‌ای یافت نشد."),
    "tasks-no-answer": ("The passage has no answer.", "پاسخی در متن یافت نشد."),
    "tasks-no-cluster": ("No two mentions of the same thing were found.", "دو عبارت هم‌مرجع یافت نشد."),
    "label-PER": ("person", "شخص"),
    "label-ORG": ("organization", "سازمان"),
    "label-LOC": ("place", "جای"),
    "label-MISC": ("other name", "نام دیگر"),
    "label-V": ("the predicate", "گزاره"),
    "label-ARG0": ("agent: who does it", "کنش‌گر: که انجام می‌دهد"),
    "label-ARG1": ("patient: what it is done to", "کنش‌پذیر: که یا چه"),
    "label-ARG2": ("recipient, instrument or result", "گیرنده، ابزار یا نتیجه"),
    "label-ARG3": ("starting point or benefactive", "آغازگاه یا بهره‌ور"),
    "label-ARG4": ("end point", "پایان‌گاه"),
    "label-ARGM-TMP": ("when", "کی"),
    "label-ARGM-LOC": ("where", "کجا"),
    "label-ARGM-MNR": ("how", "چگونه"),
    "label-ARGM-CAU": ("why", "چرا"),
    "label-ARGM-PRP": ("what for", "برای چه"),
    "label-ARGM-MOD": ("modal verb", "فعل وجهی"),
    "label-ARGM-NEG": ("negation", "نفی"),
    "label-ARGM-DIR": ("direction", "سو"),
    "label-ARGM-ADV": ("circumstance", "قید"),
    "label-ARGM-DIS": ("discourse marker", "نشانهٔ گفتمان"),
    "label-ARGM-EXT": ("extent", "اندازه"),
    "label-entailment": ("entailment", "استلزام"),
    "label-neutral": ("neutral", "خنثی"),
    "label-contradiction": ("contradiction", "تناقض"),
    "label-very positive": ("very positive", "بسیار مثبت"),
    "label-positive": ("positive", "مثبت"),
    "label-negative": ("negative", "منفی"),
    "label-very negative": ("very negative", "بسیار منفی"),
    "need-task": ("a task model", "مدل وظیفه"),
    # language model
    "language-model": ("Language model", "مدل زبانی"),
    "language-model-about": (
        "How probable each word is, given the words before it and after it; what fits a gap; what comes next.",
        "احتمال هر واژه با دانستن واژه‌های پیش از آن و پس از آن؛ چه چیزی در جای خالی می‌نشیند؛ چه چیزی در پی می‌آید.",
    ),
    "lm-sentence": ("Sentence", "جمله"),
    "lm-other": ("Another sentence to compare", "جملهٔ دیگر برای مقایسه"),
    "lm-beside": ("n-gram model beside it", "مدل n-gram در کنار آن"),
    "lm-empty": ("Type a sentence and press Enter.", "جمله‌ای بنویسید و Enter را بزنید."),
    "lm-begin": ("begin", "آغاز"),
    "lm-end": ("end", "پایان"),
    "lm-forward": ("forward", "پیش‌رو"),
    "lm-backward": ("backward", "پس‌رو"),
    "lm-ngram": ("n-gram", "n-gram"),
    "lm-forward-cell": (
        "P(word | the words before it); below: surprisal in bits",
        "P(واژه | واژه‌های پیش از آن)؛ زیر آن: شگفتی به بیت",
    ),
    "lm-backward-cell": (
        "P(word | the words after it); below: surprisal in bits",
        "P(واژه | واژه‌های پس از آن)؛ زیر آن: شگفتی به بیت",
    ),
    "lm-ngram-cell": (
        "P(word | the few words before it); below: surprisal in bits",
        "P(واژه | چند واژهٔ پیش از آن)؛ زیر آن: شگفتی به بیت",
    ),
    "lm-unknown": (
        "not in the vocabulary of the softmax: read as its letters, predicted as <UNK>",
        "در واژگان softmax نیست: از حرف‌هایش خوانده و مانند <UNK> پیش‌بینی می‌شود",
    ),
    "lm-per-word": ("Mean probability of a word, both directions: {value}", "میانگین احتمال هر واژه در دو سو: {value}"),
    "lm-first": (
        "The first sentence is {times} times as probable per word.",
        "جملهٔ نخست، به ازای هر واژه {times} برابر محتمل‌تر است.",
    ),
    "lm-second": (
        "The second sentence is {times} times as probable per word.",
        "جملهٔ دوم، به ازای هر واژه {times} برابر محتمل‌تر است.",
    ),
    "lm-gap": (
        "What fits the gap? Choose a word of the first sentence.",
        "چه چیزی در جای خالی می‌نشیند؟ واژه‌ای از جملهٔ نخست را برگزینید.",
    ),
    "lm-from-left": ("From the words before", "از واژه‌های پیش از آن"),
    "lm-from-right": ("From the words after", "از واژه‌های پس از آن"),
    "lm-from-both": ("From both", "از هر دو"),
    "lm-from-ngram": ("n-gram, from the words before", "n-gram، از واژه‌های پیش از آن"),
    "lm-sampling": ("Sampling", "نمونه‌گیری"),
    "lm-prompt": ("First words", "واژه‌های آغاز"),
    "lm-temperature": ("Temperature", "دما"),
    "lm-again": ("Draw again", "دوباره"),
    # inside ELMo
    "inside": ("Inside ELMo", "درون ELMo"),
    "inside-about": (
        "A sentence through the network, from characters to the mix of its layers. Choose a word below its column.",
        "یک جمله در راه شبکه، از نویسه‌ها تا آمیختهٔ لایه‌ها. واژه‌ای را زیر ستونش برگزینید.",
    ),
    "inside-layer": ("layer {depth}", "لایهٔ {depth}"),
    "inside-word": ("The way of “{word}”", "راه «{word}»"),
    "inside-characters": ("Characters", "نویسه‌ها"),
    "inside-characters-about": (
        "The word as bytes between two marks. Each byte has a row of numbers in a table.",
        "واژه به شکل بایت میان دو نشان. هر بایت در جدول یک سطر عدد دارد.",
    ),
    "inside-filters": ("Filters", "صافی‌ها"),
    "inside-filters-about": (
        "Convolutions over windows of one to several bytes. Of each filter only its maximum over the word remains.",
        "پیچش روی پنجره‌های یک تا چند بایتی. از هر صافی تنها بیشینهٔ آن در واژه می‌ماند.",
    ),
    "inside-highway": ("Highway", "بزرگراه"),
    "inside-highway-about": (
        "A layer whose gate decides, number by number, what is transformed and what passes unchanged.",
        "لایه‌ای که دروازه‌اش عدد به عدد تصمیم می‌گیرد چه چیزی دگرگون شود و چه چیزی دست‌نخورده بگذرد.",
    ),
    "inside-token": ("Layer 0: the word alone", "لایهٔ 0: واژه به‌تنهایی"),
    "inside-token-about": (
        "A projection to the size of the LSTMs. This vector does not know the sentence.",
        "نگاشت به اندازهٔ LSTM. این بردار از جمله خبر ندارد.",
    ),
    "inside-forward": ("LSTM {depth}, forward", "LSTM {depth}، پیش‌رو"),
    "inside-forward-about": (
        "The state after reading the sentence from its beginning up to this word.",
        "حالت پس از خواندن جمله از آغاز تا این واژه.",
    ),
    "inside-backward": ("LSTM {depth}, backward", "LSTM {depth}، پس‌رو"),
    "inside-backward-about": (
        "The state after reading the sentence from its end back to this word.",
        "حالت پس از خواندن جمله از پایان تا این واژه.",
    ),
    "inside-layers": ("Layers", "لایه‌ها"),
    "inside-layers-about": (
        "Both directions side by side: one row for each layer. Layer 0 repeats the word's own vector.",
        "دو سو در کنار هم: یک سطر برای هر لایه. لایهٔ 0 بردار خود واژه را تکرار می‌کند.",
    ),
    "inside-mix": ("Mix", "آمیخته"),
    "inside-mix-about": (
        "γ · (s₀ layer 0 + s₁ layer 1 + s₂ layer 2), the weights divided by their sum. A task learns them.",
        "\u2066γ · (s₀ h₀ + s₁ h₁ + s₂ h₂)\u2069، وزن‌ها تقسیم بر جمعشان. هر وظیفه آن‌ها را می‌آموزد.",
    ),
    # counts lab
    "counts": ("Counts lab", "آزمایشگاه شمارش"),
    "counts-about": (
        "Edit a few sentences and see how counting turns words into vectors.",
        "چند جمله را ویرایش کنید و ببینید شمارش چگونه واژه‌ها را بردار می‌کند.",
    ),
    "counts-text": ("Sentences, one per line", "جمله‌ها، هر کدام در یک سطر"),
    "counts-empty": ("Type a few sentences, one per line.", "چند جمله بنویسید، هر کدام در یک سطر."),
    "counts-cut": ("Only the most frequent words are shown.", "تنها پربسامدترین واژه‌ها نشان داده شده‌اند."),
    "counts-one-hot": ("One-hot", "تک‌روشن"),
    "counts-one-hot-about": (
        "Each word is a dimension of its own: all words are equally far from each other.",
        "هر واژه بُعدی جدا دارد: همهٔ واژه‌ها به یک اندازه از هم دورند.",
    ),
    "counts-document-term": ("Document-term", "سند–واژه"),
    "counts-document-term-about": (
        "How often each word occurs in each document. Here a line is a document; punctuation is dropped.",
        "هر واژه در هر سند چند بار آمده است. اینجا هر سطر یک سند است؛ نشانه‌ها کنار گذاشته شده‌اند.",
    ),
    "counts-tf-idf": ("TF-IDF", "TF-IDF"),
    "counts-tf-idf-about": (
        "Counts times log(N / df): a word that is in every document weighs nothing.",
        "شمارش ضرب در \u2066log(N / df)\u2069: واژه‌ای که در همهٔ سندهاست وزنی ندارد.",
    ),
    "counts-co-occurrence": ("Co-occurrence", "هم‌رخدادی"),
    "counts-co-occurrence-about": (
        "How often two words stand within a window of each other. A row is the company that a word keeps.",
        "دو واژه چند بار در پنجرهٔ هم آمده‌اند. هر سطر، همنشینان یک واژه است.",
    ),
    "counts-ppmi": ("PPMI", "PPMI"),
    "counts-ppmi-about": (
        "max(0, log P(w, c) / (P(w) P(c))): more often together than chance would have it.",
        "\u2066max(0, log P(w, c) / (P(w) P(c)))\u2069: بیش از آنچه تصادف می‌آورد با هم آمده‌اند.",
    ),
    "counts-svd": ("SVD", "SVD"),
    "counts-svd-about": (
        "The best plane for the rows of the PPMI matrix: words with similar company are near each other.",
        "بهترین صفحه برای سطرهای ماتریس PPMI: واژه‌هایی با همنشینان همانند نزدیک هم‌اند.",
    ),
    "window": ("Window", "پنجره"),
    # ratio
    "ratio": ("Ratio", "نسبت"),
    "ratio-about": (
        "Two words by the company they keep: P(k | first) / P(k | second), the table of the GloVe paper.",
        "دو واژه از روی همنشینانشان: \u2066P(k | a) / P(k | b)\u2069، جدول مقالهٔ GloVe.",
    ),
    "ratio-first": ("First word", "واژهٔ نخست"),
    "ratio-second": ("Second word", "واژهٔ دوم"),
    "ratio-probes": ("Probe words k", "واژه‌های کاوش k"),
    "ratio-ratio": ("ratio", "نسبت"),
    "ratio-unknown": ("not in the vocabulary", "در واژگان نیست"),
    "ratio-never": ("never near {word}", "هرگز نزدیک {word} نبوده"),
    "ratio-neither": ("never near {first} or {second}", "هرگز نزدیک {first} یا {second} نبوده"),
    "ratio-empty": ("Give two words and at least one probe word.", "دو واژه و دست‌کم یک واژهٔ کاوش بدهید."),
    "ratio-small": (
        "These counts are of the small text that comes with firth. Count your own: "
        "`firth train counts corpus.txt --kind co-occurrence --out counts/`, then `firth explore counts/`",
        "این شمارش از متن کوچک همراه firth است. متن خود را بشمارید: "
        "`firth train counts corpus.txt --kind co-occurrence --out counts/` و سپس `firth explore counts/`",
    ),
    **PLOT_TEXTS,
    # training, seen
    "training": ("Training, seen", "آموزش، گام به گام"),
    "training-about": (
        "One window slides over a small text: what is predicted, what changes, how the loss falls.",
        "یک پنجره روی متنی کوچک می‌لغزد: چه پیش‌بینی می‌شود، چه تغییر می‌کند، خطا چگونه می‌کاهد.",
    ),
    "training-skip-gram": ("Skip-gram", "Skip-gram"),
    "training-skip-gram-about": (
        "The center predicts one context word; up to three random words are negatives. s = W[center] · W′\u2060[word]",
        "مرکز یک همسایه را پیش‌بینی می‌کند؛ تا سه واژهٔ تصادفی نمونهٔ منفی‌اند. \u2066s = W[center] · W′\u2060[word]\u2069",
    ),
    "training-cbow": ("CBOW", "CBOW"),
    "training-cbow-about": (
        "The mean of the context predicts the center. s = mean(W[contexts]) · W′[word]",
        "میانگین همسایه‌ها واژهٔ مرکزی را پیش‌بینی می‌کند. \u2066s = mean(W[contexts]) · W′[word]\u2069",
    ),
    "training-fasttext": ("fastText", "fastText"),
    "training-fasttext-about": (
        "As skip-gram, but a word is the mean of its own row and the rows of its character trigrams.",
        "مانند skip-gram، اما هر واژه میانگین سطر خود و سطرهای سه‌نویسه‌ای‌های آن است.",
    ),
    "training-glove": ("GloVe", "GloVe"),
    "training-glove-about": (
        "Each step takes one cell X of the co-occurrence matrix: w · w̃ + b + b̃ should be log X.",
        "هر گام یک خانهٔ X از ماتریس هم‌رخدادی را می‌گیرد: \u2066w · w̃ + b + b̃\u2069 باید \u2066log X\u2069 شود.",
    ),
    "training-step": ("Step {step}", "گام {step}"),
    "training-before": ("Before the first step: random numbers.", "پیش از گام نخست: عددهای تصادفی."),
    "training-inputs": ("Input rows of W", "سطرهای ورودی W"),
    "training-wanted": ("should be", "باید باشد"),
    "training-score": ("score s", "امتیاز s"),
    "training-found": ("is", "هست"),
    "training-yes": ("1 (true)", "1 (درست)"),
    "training-no": ("0 (negative)", "0 (منفی)"),
    "training-loss": ("Loss of this step: {loss}", "خطای این گام: {loss}"),
    "training-curve": ("Mean loss of the last 50 steps", "میانگین خطای 50 گام آخر"),
    "training-start": ("To the start", "به آغاز"),
    "training-play": ("Play", "پخش"),
    "training-stop": ("Stop", "ایست"),
    "training-rate": ("Learning rate", "نرخ یادگیری"),
    # live curves
    "curves": ("Live curves", "نمودار آموزش"),
    "curves-about": (
        "The losses and scores of a training, running or finished.",
        "خطا و امتیاز یک آموزش، در جریان یا پایان‌یافته.",
    ),
    "curves-training": ("Training", "آموزش"),
    "curves-how": (
        "Give `firth explore` the folder of a training (`--checkpoint`) or its log (`--log`): "
        "the curves follow as it runs.",
        "پوشهٔ آموزش (`--checkpoint`) یا گزارش آن (`--log`) را به `firth explore` بدهید: نمودارها همراه آن پیش می‌روند.",
    ),
    "curves-none": ("There are no points to draw yet.", "هنوز نقطه‌ای برای کشیدن نیست."),
    "curves-seconds": ("{seconds} seconds of training", "{seconds} ثانیه آموزش"),
    # subwords
    "subwords": ("Subwords", "زیرواژه‌ها"),
    "subwords-about": (
        "A fastText word is the mean of its own row and of its character n-grams: the share of each piece.",
        "هر واژه در fastText میانگین سطر خود و تکه‌های نویسه‌ای آن است: سهم هر تکه.",
    ),
    "subwords-seen": ("in the vocabulary", "در واژگان"),
    "subwords-unseen": ("unseen: only its pieces", "نادیده: تنها از تکه‌ها"),
    "subwords-own": ("the word itself", "خود واژه"),
    "subwords-piece": ("piece", "تکه"),
    "subwords-share": ("share", "سهم"),
    # odd one out
    "odd": ("Odd one out", "ناهمگون"),
    "odd-about": (
        "The word that fits least with the others, and the cosine of every pair.",
        "واژه‌ای که کمتر از همه با دیگران جور است، و کسینوس هر جفت.",
    ),
    "odd-words": ("Words", "واژه‌ها"),
    "odd-word": ("The odd one out", "واژهٔ ناهمگون"),
    "odd-mean": ("mean cosine with all", "میانگین کسینوس با همه"),
    "odd-matrix": ("Similarity of every pair", "شباهت هر جفت"),
    "odd-empty": ("Give at least two words.", "دست‌کم دو واژه بدهید."),
    # words that several pages use
    "text": ("Text", "متن"),
    "answer": ("answer", "پاسخ"),
    "label": ("label", "برچسب"),
    "probability": ("probability", "احتمال"),
    "word": ("word", "واژه"),
    "cosine": ("cosine", "کسینوس"),
}


def translate(key: str, language: Language, **values: Any) -> str:
    """A text of the interface.

    >>> translate("training-step", "en", step=3), translate("home", "fa")
    ('Step 3', 'خانه')
    """
    return TEXTS[key][LANGUAGES.index(language)].format(**values)


def check_language(name: str) -> Language:
    """A language of the interface; another is an error.

    >>> check_language("farsi")
    Traceback (most recent call last):
    firth.errors.OptionError: the interface has no language 'farsi'. There are: en, fa
    """
    for language in LANGUAGES:
        if name == language:
            return language
    raise OptionError(f"the interface has no language {name!r}. {suggest(name, LANGUAGES)}")


def preferred_language(accepted: str) -> Language:
    """The language of the interface for the header Accept-Language of a browser.

    >>> preferred_language("fa-IR,fa;q=0.9,en;q=0.8"), preferred_language("de"), preferred_language("")
    ('fa', 'en', 'en')
    """
    for part in accepted.split(","):
        name = part.split(";")[0].split("-")[0].strip().lower()
        if name in LANGUAGES:
            return check_language(name)
    return "en"
