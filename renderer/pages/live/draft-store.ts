/** What stands in the composer. It stays while other pages are open, and holds every number as it was typed. */
import { create } from 'zustand';
import type { Message, Policy, Think } from '../../../shared/contract/calls.ts';
import type { CallId } from '../../../shared/contract/ids.ts';
import type { Payer } from '../../../shared/contract/plans.ts';

export interface DraftFile {
  readonly id: number;
  readonly name: string;
  readonly text: string;
}

export type DraftTab = 'system' | 'turns' | 'message' | 'files';

export interface Draft {
  readonly model: string;
  readonly numCtx: string;
  /** Empty = the value of Settings. */
  readonly numPredict: string;
  readonly think: Think;
  readonly temperature: string;
  readonly seed: string;
  /** null = the policy of Settings. */
  readonly policy: Policy | null;
  /** Who pays; null = the payer of Settings. */
  readonly payer: Payer | null;
  readonly system: string;
  /** Earlier messages of the conversation, oldest first; they stand between system and message. */
  readonly turns: readonly Message[];
  readonly message: string;
  readonly files: readonly DraftFile[];
  readonly filesAdded: number;
  readonly tab: DraftTab;
  /** Calls on screen, the newest first; at most two. */
  readonly shown: readonly CallId[];
  /** The call this page started last: its events are on their way. */
  readonly started: CallId | null;
}

/** Above this a text is kept as a file and drawn in a window of rows: a text box of that size stops being smooth. */
export const BOX_CHARACTERS_MAX = 50_000;
export const FILE_CHARACTERS_MAX = 5_500_000;
export const FILES_MAX = 50;

export const useDraft = create<Draft>(() => ({
  model: '',
  numCtx: '',
  numPredict: '',
  think: 'default',
  temperature: '0',
  seed: '7',
  policy: null,
  payer: null,
  system: '',
  turns: [],
  message: '',
  files: [],
  filesAdded: 0,
  tab: 'message',
  shown: [],
  started: null,
}));

export const draft = {
  set: (patch: Partial<Draft>): void => {
    useDraft.setState(patch);
  },

  /** Answers why a text was not taken, or null. */
  addFile: (name: string, text: string): string | null => {
    const { files, filesAdded } = useDraft.getState();
    if (text === '') return `${name} is empty.`;
    if (text.includes('\0')) return `${name} is not a text file.`;
    if (text.length > FILE_CHARACTERS_MAX) return `${name} is longer than 5,500,000 characters.`;
    if (files.length >= FILES_MAX) return `There are ${FILES_MAX} files already. Remove one first.`;
    const total = files.reduce((sum, file) => sum + file.text.length, text.length);
    if (total > 2 * FILE_CHARACTERS_MAX) return `With ${name} the files would pass 11,000,000 characters together.`;
    useDraft.setState({ files: [...files, { id: filesAdded + 1, name, text }], filesAdded: filesAdded + 1 });
    return null;
  },

  /** A message that is too long for the box becomes a file. */
  setMessage: (text: string): void => {
    if (text.length <= BOX_CHARACTERS_MAX) useDraft.setState({ message: text });
    else draft.addFile('Message', text);
  },

  /** Keeps an exchange as turns, so that the next message goes on from it. */
  continueFrom: (messages: readonly Message[], answer: string): void => {
    useDraft.setState({
      system: messages.find((message) => message.role === 'system')?.content ?? '',
      turns: [...messages.filter((message) => message.role !== 'system'), { role: 'assistant', content: answer }],
      message: '',
      files: [],
      tab: 'message',
    });
  },

  removeTurn: (index: number): void => {
    useDraft.setState({ turns: useDraft.getState().turns.filter((_, place) => place !== index) });
  },

  removeFile: (id: number): void => {
    useDraft.setState({ files: useDraft.getState().files.filter((file) => file.id !== id) });
  },

  show: (id: CallId): void => {
    const { shown } = useDraft.getState();
    useDraft.setState({ shown: [id, ...shown.filter((other) => other !== id)].slice(0, 2) });
  },
};
