/** The index that processes write to while they are killed; everything is stored, so that it can be compared with itself. */

import { SearchIndex } from "../../../src/components/search/index.ts";
import type { Store } from "../../../src/connection/store.ts";

export const busyIndex = (store: Store) =>
  new SearchIndex(store, "busy", {
    fields: {
      title: { type: "text", weight: 2, store: true },
      body: { type: "text", store: true },
      tags: { type: "tags" },
      price: { type: "number" },
      name: { type: "string" },
    },
  });
