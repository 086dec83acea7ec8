/** The part of time that all charts of a page show: everything, or what somebody has drawn a frame around. The address has it. */
import { useMemo } from "react";
import { changeAddress } from "./address.ts";
import { usePlace } from "./router.ts";

/** Seconds since 1970. */
export interface Zoom {
  readonly from: number;
  readonly to: number;
}

export function zoomTo(zoom: Zoom | null): void {
  changeAddress({ zoom: zoom && `${Math.floor(zoom.from)}-${Math.ceil(zoom.to)}` });
}

export function useZoom(): Zoom | null {
  const text = usePlace().query.get("zoom") ?? "";
  return useMemo(() => {
    const [, from, to] = /^(\d{1,12})-(\d{1,12})$/.exec(text) ?? [];
    return from !== undefined && Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : null;
  }, [text]);
}
