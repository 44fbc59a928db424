import { Tooltip } from 'radix-ui';
import type { ReactElement } from 'react';

/** Explains on hover and on focus. `Tooltip.Provider` stands around the whole app. */
export function Hint({ text, children }: { readonly text: string; readonly children: ReactElement }) {
  if (text === '') return children;
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={4}
          collisionPadding={8}
          className="menu max-w-80 px-2 py-1 text-table wrap-anywhere text-ink"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
