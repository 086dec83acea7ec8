/** The part of time that all charts of a page show: everything, or what somebody has drawn a frame around. */
import { useOutside, Watchers } from "./outside.ts";

/** Seconds since 1970. */
export interface Zoom {
  readonly from: number;
  readonly to: number;
}

let zoom: Zoom | null = null;
const watchers = new Watchers();

export function zoomTo(next: Zoom | null): void {
  if (zoom === next) return;
  zoom = next;
  watchers.tell();
}

export const useZoom = (): Zoom | null => useOutside(() => zoom, watchers.subscribe);
