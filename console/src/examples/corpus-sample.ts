/** Texts to search in where there is no apt: short descriptions of made-up packages, one a line. */
export const CORPUS_SAMPLE = `
amber-notes | editors | Plain note keeper that searches as you type
`;
