import { EmptyState } from '../../components/empty-state.tsx';
import { Page } from '../../frame/page.tsx';

export function ContextPage() {
  return (
    <Page title="Context" note="how much of a text survives, by its size and the window">
      <EmptyState title="Not built yet" />
    </Page>
  );
}
