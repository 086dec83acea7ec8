/**
 * Socket.IO over several processes: an adapter that passes packets on by publish/subscribe, and an emitter for processes that have no
 * Socket.IO server.
 *
 *   const io = new Server(httpServer, { adapter: createAdapter(db) });
 *   new Emitter(db).to("room:1").emit("news", { title: "…" });
 */
export { type AdapterOptions, createAdapter } from "./adapter.ts";
export { Emitter, type EmitterOptions } from "./emitter.ts";
