/**
 * The application components. They stand on one narrow connection port; until the first of them is here, this package
 * re-exports nothing and the store is reached through `@cinnabar/engine`.
 */
export {};
