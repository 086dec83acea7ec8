/** Keeps the frame when a view throws: the view says so, and everything else goes on. */
import { Component, type ReactNode } from "react";
import { Trouble } from "../parts.tsx";

export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: Error | null }> {
  override state: { readonly error: Error | null } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === null ? (
      this.props.children
    ) : (
      <Trouble error={error} again={() => this.setState({ error: null })} />
    );
  }
}
