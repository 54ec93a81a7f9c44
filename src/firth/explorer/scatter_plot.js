// The scatter plot of firth.maps as an element of a page. Its data come by HTTP, never through the socket.
export default {
  template: `<div class="plot" role="presentation"></div>`,
  props: { script: String, source: String, label: String, texts: Object, unit: Boolean, pointSize: Number, view: Object, mixer: String, group: String },
  async mounted() {
    const { Scatter, Mixer, unpack } = await import(this.script);
    if (!this.$el.isConnected) return;
    this.unpack = unpack;
    this.plot = new Scatter(this.$el, {
      label: this.label, texts: this.texts, unit: this.unit, pointSize: this.pointSize,
      onPick: (id, name) => this.$emit("pick", { id, name }),
      onSelect: (chosen) => this.$emit("select", chosen),
      onView: (view) => this.$emit("view", view),
    });
    await this.load(this.source, this.view);
    if (this.mixer) {
      const controls = new Mixer(document.querySelector(this.mixer), this.plot, this.texts);
      controls.onChange = (state) => this.$emit("mix", state);
    }
    this.$el.dataset.group = this.group;
    const others = this.group ? document.querySelectorAll(`.scatter[data-group="${this.group}"]`) : [];
    for (const other of others) if (other !== this.$el) Scatter.link(this.plot, other.scatter);
    this.$emit("ready", {});
  },
  methods: {
    async fetch(source) {
      const answer = await fetch(source);
      if (!answer.ok) throw new Error(await answer.text());
      return answer.arrayBuffer();
    },
    async load(source, view = null) {
      this.$el.classList.add("loading");
      try {
        this.plot.show(this.unpack(await this.fetch(source)), view);
      } catch (error) {
        const message = document.createElement("p");
        message.className = "state error";
        message.setAttribute("role", "alert");
        message.textContent = error.message;
        this.$el.replaceChildren(message);
      } finally {
        this.$el.classList.remove("loading");
      }
    },
    async morph(source) {
      if (!this.plot) return;
      const positions = new Float32Array(await this.fetch(source));
      if (positions.length === 2 * this.plot.size) this.plot.morph(positions);
    },
    async addField(field, source, show) {
      if (!this.plot) return;
      const values = new Float32Array(await this.fetch(source));
      if (values.length === this.plot.size) this.plot.addField({ ...field, values }, show);
    },
    colorBy(key) { this.plot?.colorBy(key); },
    light(ids, center, go) { this.plot?.light(ids, center, go); },
    lightWords(words, center, go) { this.plot?.lightWords(words, center, go); },
    tie(word) { this.plot?.tie(word); },
    showAll() { this.plot?.fit(); },
  },
};
