// The scatter plot as a widget of a notebook; follows scatter.js in one module.
export default {
  render({ model, el }) {
    const box = document.createElement("div");
    box.style.height = `${model.get("height")}px`;
    el.append(box);
    const bytes = model.get("data");
    const plot = new Scatter(box, {
      label: model.get("mixer") ? "Senses" : "Map",
      unit: model.get("mixer"),
      pointSize: model.get("mixer") ? 10 : 4,
      onPick: (id, name) => { model.set("picked", name); model.save_changes(); },
      onSelect: ({ ids }) => { model.set("selected", ids.map((id) => plot.name(id))); model.save_changes(); },
    });
    plot.show(unpack(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
    if (!model.get("mixer")) return;
    const controls = document.createElement("div");
    el.append(controls);
    new Mixer(controls, plot);
  },
};
