/** The probable answer of a reply whose text all came as thinking, as an offer. */
import { useState } from 'react';
import type { CallRecord } from '../../../shared/contract/calls.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { go } from '../../stores/screen-store.ts';
import { draft as liveDraft } from '../live/draft-store.ts';

/** Never used by itself: it is shown, and taken with one press. */
export function ProbableAnswer({ record, text }: { readonly record: CallRecord; readonly text: string }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > SHOWN_CHARACTERS;
  return (
    <section aria-label="Probable answer" className="mt-3 border-l-2 border-ink pl-3">
      <h2 className="font-semibold text-ink">Probably the answer, from the thinking field</h2>
      <pre className="max-h-40 overflow-auto leading-5 wrap-anywhere whitespace-pre-wrap text-ink">
        {whole || !long ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`}
      </pre>
      <div className="-ml-2 flex flex-wrap gap-1">
        <CopyButton label="Copy" text={() => text} />
        <Button
          look="flat"
          title="Puts the prompt and this answer into Live as a conversation; nothing is sent"
          onClick={() => {
            liveDraft.set({ model: record.request.model });
            liveDraft.continueFrom(record.request.messages, text);
            go('live');
          }}
        >
          Use in Live
        </Button>
        {long ? (
          <Button
            look="flat"
            onClick={() => {
              setWhole(!whole);
            }}
          >
            {whole ? 'Less' : 'All of it'}
          </Button>
        ) : null}
      </div>
    </section>
  );
}

const SHOWN_CHARACTERS = 400;
