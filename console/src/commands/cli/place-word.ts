/** Whether a first word is a place and no command: a URL, or the path of a folder. */
export const isPlace = (word: string): boolean => word.includes("://") || /^\.{0,2}\//.test(word);
