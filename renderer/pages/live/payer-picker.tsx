/** Chooses who pays for a call: somebody of the directory, or any tenant and user by name. */
import { Command } from 'cmdk';
import { ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useMemo, useState } from 'react';
import { payerSchema } from '../../../shared/contract/plans.ts';
import type { Payer, User } from '../../../shared/contract/plans.ts';
import { Button } from '../../components/button.tsx';
import { Field, TextBox } from '../../components/field.tsx';
import { count } from '../../format/numbers.ts';
import { usePlans } from '../ledger/plans-store.ts';
import { usersLike } from '../ledger/users-rows.ts';

export interface PayerPickerProps {
  readonly payer: Payer;
  /** The payer of the settings; choosing it follows them. */
  readonly own: Payer;
  readonly name: string;
  /** null = the payer of the settings. */
  readonly onPayer: (payer: Payer | null) => void;
}

export function PayerPicker({ payer, own, name, onPayer }: PayerPickerProps) {
  const [open, setOpen] = useState(false);
  const take = (next: Payer | null): void => {
    onPayer(next);
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button
          type="button"
          aria-label={`Payer: ${name}`}
          className="field flex w-auto! max-w-[45%] flex-none items-center gap-1.5 text-left"
        >
          <span className="lab flex-none">pays</span>
          <span className="min-w-0 truncate">{name}</span>
          <ChevronDown size={14} strokeWidth={1.75} className="flex-none" aria-hidden="true" />
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          collisionPadding={8}
          sideOffset={4}
          aria-label="Payer"
          className="menu flex max-h-[min(520px,70vh)] w-[380px] flex-col"
        >
          <KnownPayers own={own} onPayer={take} />
          <OtherPayer payer={payer} onPayer={take} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

const SHOWN_MAX = 50;
const nobody: readonly User[] = [];

function KnownPayers({ own, onPayer }: { own: Payer; onPayer: (payer: Payer | null) => void }) {
  const users = usePlans((state) => state.view?.directory.users ?? nobody);
  const [find, setFind] = useState('');
  const found = useMemo(() => usersLike(users, find, null), [users, find]);
  return (
    <Command label="Payer" loop shouldFilter={false} className="flex min-h-0 flex-col">
      <Command.Input
        value={find}
        onValueChange={setFind}
        placeholder={`Find in ${count(users.length)} users`}
        className="h-9 flex-none border-b px-3 text-ink outline-none!"
      />
      <Command.List className="min-h-0 flex-1 overflow-auto py-1">
        {find === '' ? (
          <Command.Item value="own" className="menu-item" onSelect={() => onPayer(null)}>
            <span className="min-w-0 flex-1 truncate">
              {own.user}, {own.tenant}
            </span>
            <span className="lab flex-none">as in Settings</span>
          </Command.Item>
        ) : null}
        {found.slice(0, SHOWN_MAX).map((user) => (
          <Command.Item
            key={`${user.tenant}\n${user.id}`}
            value={`${user.tenant}\n${user.id}`}
            className="menu-item"
            onSelect={() => onPayer({ tenant: user.tenant, user: user.id })}
          >
            <span className="min-w-0 flex-1 truncate">
              {user.id}, {user.tenant}
            </span>
            <span className="lab max-w-32 flex-none truncate">{user.plan ?? 'plan of the tenant'}</span>
          </Command.Item>
        ))}
        {found.length > SHOWN_MAX ? (
          <p className="lab px-3 py-1">{count(found.length - SHOWN_MAX)} more: type a part of the name.</p>
        ) : null}
        {found.length === 0 && find !== '' ? <p className="px-3 py-2">Nobody listed. Name them below.</p> : null}
      </Command.List>
    </Command>
  );
}

/** Who is not listed has the plan of the tenant, or the default one. */
function OtherPayer({ payer, onPayer }: { payer: Payer; onPayer: (payer: Payer) => void }) {
  const [typed, setTyped] = useState({
    tenant: payer.tenant,
    user: payer.user,
    conversation: payer.conversation ?? '',
  });
  const [problem, setProblem] = useState<{ field: string; text: string } | null>(null);
  const use = (): void => {
    const { conversation, ...names } = typed;
    const read = payerSchema.safeParse(conversation.trim() === '' ? names : typed);
    if (read.success) return onPayer(read.data);
    const [issue] = read.error.issues;
    const field = String(issue?.path[0] ?? 'user');
    setProblem({ field, text: `${field[0]?.toUpperCase() ?? ''}${field.slice(1)} ${issue?.message ?? ''}.` });
  };
  const box = (field: 'tenant' | 'user' | 'conversation', placeholder: string) => (
    <Field
      label={field === 'conversation' ? 'conversation, if any' : field}
      problem={problem?.field === field ? problem.text : null}
    >
      {({ id, problemId }) => (
        <TextBox
          id={id}
          value={typed[field]}
          maxLength={300}
          placeholder={placeholder}
          aria-invalid={problem?.field === field}
          aria-describedby={problem?.field === field ? problemId : undefined}
          onValue={(value) => {
            setProblem(null);
            setTyped({ ...typed, [field]: value });
          }}
        />
      )}
    </Field>
  );
  return (
    <form
      aria-label="Another payer"
      noValidate
      className="flex flex-none flex-col gap-2 border-t px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        use();
      }}
    >
      <div className="grid grid-cols-2 items-start gap-2">
        {box('tenant', 'acme')}
        {box('user', 'ada')}
      </div>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">{box('conversation', 'none')}</div>
        <Button type="submit">Use these</Button>
      </div>
    </form>
  );
}
