/** The site: what `npm run site` has put into .stage/pages becomes dist. Nothing of it comes from another host. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DefaultTheme, defineConfig } from "vitepress";
import { listsPackages } from "../../scripts/third-party.js";
import { anchorOf } from "../pages/commands.ts";
import type { Navigation } from "../pages/navigation.ts";
import { BASE, fileOf, inOtherLanguage, OUT, ROOT, routeOfFile } from "../pages/routes.ts";

const SITE = join(import.meta.dirname, "..");
const nav: Navigation = JSON.parse(readFileSync(join(SITE, ".stage/navigation.json"), "utf8"));
const sidebar = (items: Navigation["guide"]) => items as DefaultTheme.SidebarItem[];

/** Scripts in the page would need a hash each in the server's policy: they stand in files. */
const INLINE_SCRIPT = /<script id="([\w-]+)">([\s\S]*?)<\/script>/g;
export const scriptFiles = new Map<string, string>();

/** typedoc's pages, which VitePress's router does not know: the browser goes there. */
const REFERENCE = { link: "/api/index.html", target: "_self" };

export default defineConfig({
  title: "Cinnabar",
  description: "Everything that people build on Redis, in one TypeScript install.",
  base: BASE,
  srcDir: join(SITE, ".stage/pages"),
  outDir: OUT,
  cacheDir: join(SITE, ".stage/cache"),
  metaChunk: true,
  head: [["link", { rel: "icon", href: `${BASE}icon.svg`, type: "image/svg+xml" }]],
  markdown: {
    anchor: { slugify: anchorOf },
    // A heading without words is none.
    config: (md) => {
      md.core.ruler.push("empty-heads", ({ tokens }) => {
        tokens.forEach((token, nth) => {
          if (token.type !== "th_open" || tokens[nth + 1]?.content !== "") return;
          for (const each of [token, tokens[nth + 2]]) if (each !== undefined) each.tag = "td";
        });
      });
    },
    languageAlias: { console: "shellsession", redis: "text", mjs: "js", conf: "ini" },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  transformPageData: ({ relativePath, frontmatter }, { siteConfig }) => {
    const files = new Set(siteConfig.pages);
    const route = inOtherLanguage(routeOfFile(relativePath), (each) => files.has(fileOf(each)));
    return { frontmatter: { ...frontmatter, otherLanguage: route } };
  },
  transformHtml: (html) =>
    html.replace(INLINE_SCRIPT, (_all, id: string, code: string) => {
      scriptFiles.set(id, code);
      return `<script id="${id}" src="${BASE}assets/${id}.js"></script>`;
    }),
  buildEnd: async ({ outDir }) => {
    const { mkdir, writeFile } = await import("node:fs/promises");
    await mkdir(join(outDir, "assets"), { recursive: true });
    for (const [id, code] of scriptFiles) await writeFile(join(outDir, "assets", `${id}.js`), code);
  },
  vite: {
    configFile: false,
    plugins: [listsPackages(ROOT)],
    // Folders outside of site/ have their own; nothing of them is needed here.
    resolve: {
      preserveSymlinks: false,
      // The theme's own leads to the same path in the other language, whether there is such a page or not.
      alias: [{ find: /^.*\/composables\/langs(?:\.js)?$/, replacement: join(import.meta.dirname, "theme/langs.ts") }],
    },
    build: { chunkSizeWarningLimit: 1_500, assetsInlineLimit: 0 },
  },
  themeConfig: {
    outline: [2, 3],
    externalLinkIcon: true,
  },
  locales: {
    root: {
      label: "English",
      lang: "en",
      themeConfig: {
        nav: [
          { text: "Start", link: "/start" },
          { text: "Guides", link: "/guide/toolkit", activeMatch: "/(guide|migrating|comparisons|project|packages)/" },
          { text: "Components", link: "/components/locks", activeMatch: "^/components/" },
          { text: "Commands", link: "/commands/", activeMatch: "^/commands/" },
          { text: "API", ...REFERENCE },
          { text: "Playground", link: "/playground" },
        ],
        sidebar: {
          "/components/": sidebar(nav.components),
          "/commands/": sidebar(nav.commands),
          "/": sidebar(nav.guide),
        },
      },
    },
    zh: {
      label: "简体中文",
      lang: "zh-CN",
      link: "/zh/",
      description: "人们用 Redis 构建的一切，一次 TypeScript 安装即可得到。",
      themeConfig: {
        nav: [
          { text: "上手", link: "/zh/start" },
          { text: "组件", link: "/zh/components/locks", activeMatch: "^/zh/components/" },
          { text: "命令", link: "/commands/" },
          { text: "API", ...REFERENCE },
          { text: "试用台", link: "/zh/playground" },
        ],
        sidebar: { "/zh/": sidebar(nav.zh) },
        outline: { level: [2, 3], label: "本页内容" },
        docFooter: { prev: "上一页", next: "下一页" },
        darkModeSwitchLabel: "外观",
        sidebarMenuLabel: "目录",
        returnToTopLabel: "回到顶部",
        langMenuLabel: "语言",
        lightModeSwitchTitle: "浅色",
        darkModeSwitchTitle: "深色",
      },
    },
  },
});
