import { useCacheHandler } from "cinnabar/next";
import { store } from "./store.mjs";

export default useCacheHandler(store);
