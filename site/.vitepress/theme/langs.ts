/**
 * Stands for the composable of VitePress's theme of this name, from which the switches of the language in the bar and in the menus take
 * their links. Here a link leads to a page that exists: `inOtherLanguage`, which the build has put into each page's data.
 */
import { useData } from "vitepress";
import { type ComputedRef, computed } from "vue";

interface Language {
  readonly text: string;
  readonly link: string;
}

export function useLangs(): {
  localeLinks: ComputedRef<Language[]>;
  currentLang: ComputedRef<{ label: string | undefined; link: string }>;
} {
  const { site, localeIndex, frontmatter } = useData();
  const startOf = (locale: string): string => (locale === "root" ? "/" : `/${locale}/`);
  // Headings are translated, so the link leads to the top of the page. The page for what is absent has no counterpart.
  const localeLinks = computed(() =>
    Object.entries(site.value.locales)
      .filter(([locale]) => locale !== localeIndex.value)
      .map(([locale, { label }]) => ({ text: label, link: frontmatter.value.otherLanguage ?? startOf(locale) })),
  );
  const currentLang = computed(() => ({
    label: site.value.locales[localeIndex.value]?.label,
    link: startOf(localeIndex.value),
  }));
  return { localeLinks, currentLang };
}
