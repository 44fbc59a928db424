export function Explain() {
  return null;
}
