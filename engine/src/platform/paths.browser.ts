/** Names of files, with Unix's rules. */
export function resolve(...parts: readonly string[]): string {
  let path = "";
  for (const part of parts) path = part.startsWith("/") ? part : `${path}/${part}`;
  const kept: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") kept.pop();
    else if (name !== "" && name !== ".") kept.push(name);
  }
  return `/${kept.join("/")}`;
}

/** Every name here begins at the root. */
export const join = (...parts: readonly string[]): string => resolve(parts.join("/"));

export const dirname = (path: string): string => resolve(path, "..");

export const basename = (path: string): string => resolve(path).split("/").at(-1)!;
