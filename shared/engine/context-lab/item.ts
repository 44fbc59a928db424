/** The item at a place that is known to exist; anything else is a bug and throws. */
export function item<Item>(list: ArrayLike<Item>, index: number): Item {
  const found = list[index];
  if (found === undefined) throw new RangeError(`Broken rule: no item ${index} in a list of ${list.length}`);
  return found;
}
