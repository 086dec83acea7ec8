import { incrementalCacheHandler } from "cinnabar/next";
import { store } from "./store.mjs";

export default incrementalCacheHandler(store);
