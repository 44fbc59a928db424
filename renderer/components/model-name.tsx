/** A long name gives way in the middle: the head shrinks, the tag (size and quantisation) stays. Always a text node. */
export function ModelName({ name, className = '' }: { readonly name: string; readonly className?: string }) {
  const [head, tail] = splitName(name);
  return (
    <span className={`inline-flex max-w-full min-w-0 whitespace-nowrap text-ink ${className}`} title={name}>
      <span className="min-w-6 truncate">{head}</span>
      <span className="max-w-3/5 flex-none truncate">{tail}</span>
    </span>
  );
}

const TAIL_CHARACTERS_MAX = 24;

/** At the last colon, when what follows is short enough to be a tag; else the last characters of a long name. */
export function splitName(name: string): readonly [string, string] {
  const colon = name.lastIndexOf(':');
  if (colon > 0 && name.length - colon <= TAIL_CHARACTERS_MAX) return [name.slice(0, colon), name.slice(colon)];
  if (name.length <= TAIL_CHARACTERS_MAX) return [name, ''];
  let cut = name.length - 10;
  // Never between the halves of a surrogate pair.
  if (/[\uDC00-\uDFFF]/u.test(name.charAt(cut)) || (name.charCodeAt(cut) & 0xfc00) === 0xdc00) cut += 1;
  return [name.slice(0, cut), name.slice(cut)];
}
