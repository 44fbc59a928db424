import { Page } from '../../frame/page.tsx';

export function HistoryPage() {
  return (
    <Page title="History" note="">
      <span />
    </Page>
  );
}
