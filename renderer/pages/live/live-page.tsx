import { Page } from '../../frame/page.tsx';

export function LivePage() {
  return (
    <Page title="Live" note="">
      <span />
    </Page>
  );
}
