/**
 * <cinnabar-keys>: the key browser of a console, inside of another page.
 *
 *   <script type="module" src="/admin/store/embed.js"></script>
 *   <cinnabar-keys key="user:17" style="height: 32rem"></cinnabar-keys>
 *
 * It is a frame, so that neither page can break the other's styles or scripts; the console must allow the page's origin
 * (`consoleFor(store, { frames: ["self"] })`). Attributes: `src` (the console; where this script comes from by default), `view`
 * (another page of the console than `keys`), `key`, `connection`, `db`. A `navigate` event tells where somebody has gone, to pages
 * of the console's own origin.
 */
const HOME = new URL(".", import.meta.url);

class CinnabarKeys extends HTMLElement {
  static observedAttributes = ["src", "view", "key", "connection", "db"];
  #frame = document.createElement("iframe");
  #heard = (event) => this.#hear(event);

  constructor() {
    super();
    this.#frame.title = "Key browser";
    this.#frame.style.cssText = "border: 0; width: 100%; height: 100%; display: block";
    this.attachShadow({ mode: "open" }).append(this.#frame);
  }

  connectedCallback() {
    if (getComputedStyle(this).display === "inline") this.style.display = "block";
    if (this.clientHeight === 0) this.style.height = "30rem";
    addEventListener("message", this.#heard);
    this.#show();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#heard);
  }

  attributeChangedCallback() {
    if (this.isConnected) this.#show();
  }

  get #console() {
    const src = this.getAttribute("src");
    return src === null ? HOME : new URL(src.endsWith("/") ? src : `${src}/`, document.baseURI);
  }

  #show() {
    const address = new URL(this.#console);
    address.searchParams.set("embed", "");
    for (const name of ["connection", "db"]) {
      const value = this.getAttribute(name);
      if (value !== null) address.searchParams.set(name, value);
    }
    const key = this.getAttribute("key");
    const query = key === null ? "" : `?${new URLSearchParams({ key })}`;
    address.hash = `#/${this.getAttribute("view") ?? "keys"}${query}`;
    if (this.#frame.src !== address.href) this.#frame.src = address.href;
  }

  #hear({ source, origin, data }) {
    if (source !== this.#frame.contentWindow || origin !== this.#console.origin) return;
    if (data?.source !== "cinnabar") return;
    this.dispatchEvent(new CustomEvent("navigate", { detail: { view: data.view, key: data.key } }));
  }
}

if (customElements.get("cinnabar-keys") === undefined) customElements.define("cinnabar-keys", CinnabarKeys);
