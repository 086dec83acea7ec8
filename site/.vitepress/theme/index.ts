/** VitePress's theme with the system's fonts, and what makes pages live. */
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import Layout from "./layout.vue";
import LiveProgram from "./live-program.vue";
import LivePrompt from "./live-prompt.vue";
import PlayGround from "./play-ground.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component("LiveProgram", LiveProgram);
    app.component("LivePrompt", LivePrompt);
    app.component("PlayGround", PlayGround);
  },
} satisfies Theme;
