/** Plans, tenants and users: who may spend what. Takes the whole work area of the page and scrolls by itself. */
export function PlansView() {
  return <div className="min-h-0 min-w-0 flex-1 overflow-auto px-6 py-4">Plans</div>;
}
