/** A module hook: an import of `typescript` gets TypeScript 6. */
export async function resolve(specifier, context, next) {
  return next(specifier === "typescript" ? "typescript6" : specifier, context);
}
