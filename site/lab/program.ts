/** From what a reader has written to what a browser runs: without types, and with our packages at their addresses. */
import { transform } from "sucrase";

/** `addressOf`: where a package of ours is; undefined for a name that it does not know. */
export function runnable(code: string, addressOf: (name: string) => string | undefined): string {
  const { code: plain } = transform(code, { transforms: ["typescript"], disableESTransforms: true });
  return plain.replace(/(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(["'])([^"'\n]+)\2/g, (all, before, quote, name) => {
    const address = addressOf(name);
    if (address === undefined) return all;
    return `${before}${quote}${address}${quote}`;
  });
}

/** Where a page has our packages. */
export function addressIn(folder: (path: string) => string): (name: string) => string | undefined {
  return (name) => {
    if (name === "cinnabar") return folder("./cinnabar.js");
    if (name.startsWith("cinnabar/")) return folder(`./toolkit/${name.slice("cinnabar/".length)}.js`);
    return /^@cinnabar\/engine(?:\/browser)?$/.test(name) ? folder("./engine/index.js") : undefined;
  };
}
