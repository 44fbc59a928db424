/** The same calls at once, twice: checked after the reply, and reserved first. A section of the width it is given. */
export function StormPanel() {
  return <section aria-label="Storm">Storm</section>;
}
