/**
 * Mantine with the page's tokens. Its provider writes no style element, since the security policy allows none: the variables come
 * from its own sheet and tokens.css. Only the sheets of parts that the first view needs are here; others come with their chunks.
 */
import "@mantine/core/styles/default-css-variables.css";
import "@mantine/core/styles/baseline.css";
import "@mantine/core/styles/global.css";
import "@mantine/core/styles/UnstyledButton.css";
import "@mantine/core/styles/CloseButton.css";
import "@mantine/core/styles/Overlay.css";
import "@mantine/core/styles/Paper.css";
import "@mantine/core/styles/ModalBase.css";
import "@mantine/core/styles/Modal.css";
import "@mantine/core/styles/Notification.css";
import "@mantine/core/styles/Skeleton.css";
import "@mantine/core/styles/Loader.css";
import "@mantine/notifications/styles.css";
import { createTheme, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { useTheme } from "./theme.ts";

const theme = createTheme({
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // The page itself does not scroll, and the lock would write a style element.
    ModalRoot: { defaultProps: { lockScroll: false } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Hide message" } } },
  },
});

export function Look({ children }: { children: ReactNode }) {
  const scheme = useTheme() === "dark" ? "dark" : "light";
  return (
    <MantineProvider theme={theme} forceColorScheme={scheme} withCssVariables={false} withGlobalClasses={false}>
      <Notifications position="bottom-right" autoClose={4_000} limit={4} />
      {children}
    </MantineProvider>
  );
}
