/**
 * One form for names that people take for the same: Unicode compatibility forms, and no case. Upper case first, so that ß and
 * ss meet; a final sigma is a sigma, or a prefix that ends in one would not match what goes on after it.
 */
export function fold(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}
