/** The focus goes back to where it was when something that took it closes. */
import { useEffect, useState } from "react";

export function useFocusBack(): void {
  const [from] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // Somebody may have gone elsewhere meanwhile.
      const isFree = document.activeElement === null || document.activeElement === document.body;
      if (isFree && from instanceof HTMLElement && from.isConnected) from.focus({ preventScroll: true });
    },
    [],
  );
}
