import { Ban, Square, X } from 'lucide-react';
import { Badge } from '../../components/badge.tsx';
import type { ReasonWords } from './words.ts';

/** The chip of an end. What neither went well nor was stopped by a budget or a guard has marks of its own. */
export function ReasonMark({
  words,
  size = 'small',
}: {
  readonly words: ReasonWords;
  readonly size?: 'small' | 'normal';
}) {
  if (words.meaning !== 'plain' || words.severity === 'informed')
    return <Badge meaning={words.meaning} severity={words.severity} size={size} />;
  const Icon = words.text === 'stopped' ? Square : words.severity === 'stopped' ? X : Ban;
  return (
    <span className="badge c-plain" data-severity={words.severity} data-size={size} aria-hidden="true">
      <Icon size={size === 'small' ? 10 : 12} strokeWidth={2.2} />
    </span>
  );
}
