import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

export interface TabItem<Id extends string> {
  readonly id: Id;
  readonly text: string;
  /** Small figure behind the word, such as a count. */
  readonly note?: string;
}

export interface TabsProps<Id extends string> {
  readonly value: Id;
  readonly onValue: (value: Id) => void;
  readonly items: readonly TabItem<Id>[];
  readonly label: string;
  readonly className?: string;
  /** Stands right of the tabs. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A row of tabs over its panels; each child is a TabPanel. */
export function Tabs<Id extends string>(props: TabsProps<Id>) {
  const { value, onValue, items, label, className = '', aside, children } = props;
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => {
        const item = items.find((candidate) => candidate.id === next);
        if (item !== undefined) onValue(item.id);
      }}
      className={`flex min-h-0 min-w-0 flex-col ${className}`}
    >
      <div className="flex flex-none items-center border-b">
        <Radix.List aria-label={label} className="flex h-8 min-w-0 flex-1 gap-4">
          {items.map((item) => (
            <Radix.Trigger
              key={item.id}
              value={item.id}
              aria-label={item.note === undefined ? item.text : `${item.text}, ${item.note}`}
              className="truncate text-ink-3 hover:text-ink data-[state=active]:font-semibold data-[state=active]:text-ink data-[state=active]:shadow-[inset_0_-2px_0_var(--ink)]"
            >
              {item.text}
              {item.note === undefined ? null : <span className="lab ml-1 font-normal">{item.note}</span>}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {aside}
      </div>
      {children}
    </Radix.Root>
  );
}

export function TabPanel({ id, className = '', children }: { id: string; className?: string; children: ReactNode }) {
  return (
    <Radix.Content value={id} className={`min-h-0 min-w-0 flex-1 ${className}`}>
      {children}
    </Radix.Content>
  );
}
