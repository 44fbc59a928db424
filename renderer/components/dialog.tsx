import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: string;
  readonly wide?: boolean;
  readonly hideTitle?: boolean;
  readonly children: ReactNode;
}

/**
 * A modal dialog. The backdrop is our own element: Radix's overlay writes a style tag into the page, which the content
 * security policy refuses.
 */
export function Dialog({ open, onClose, title, description, wide = false, hideTitle = false, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Radix.Portal>
        <div className="fixed inset-0 z-30 bg-backdrop" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={`menu fixed top-[12vh] left-1/2 z-40 flex max-h-[76vh] -translate-x-1/2 flex-col overflow-hidden ${wide ? 'w-[min(960px,calc(100vw-48px))]' : 'w-[min(560px,calc(100vw-48px))]'}`}
        >
          <Radix.Title className={hideTitle ? 'sr-only' : 'lead px-4 pt-3'}>{title}</Radix.Title>
          {description === undefined ? null : (
            <Radix.Description className={hideTitle ? 'sr-only' : 'px-4 wrap-anywhere'}>
              {description}
            </Radix.Description>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
