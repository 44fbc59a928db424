/** A page that breaks says so; the rail, the status bar and the other pages go on. */
import { Component } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { EmptyState } from '../components/empty-state.tsx';

interface PageBoundaryState {
  readonly error: Error | null;
}

export class PageBoundary extends Component<{ readonly children: ReactNode }, PageBoundaryState> {
  override state: PageBoundaryState = { error: null };

  static getDerivedStateFromError(error: unknown): PageBoundaryState {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <main aria-label="Broken page">
        <EmptyState title="This page broke. That is a fault of Spillway." text={error.message}>
          <Button
            look="primary"
            onClick={() => {
              this.setState({ error: null });
            }}
          >
            Try again
          </Button>
          <CopyButton look="plain" label="Copy the details" text={() => `${error.message}\n${error.stack ?? ''}`} />
        </EmptyState>
      </main>
    );
  }
}
