import { Page } from '../../frame/page.tsx';

export function SettingsPage() {
  return (
    <Page title="Settings" note="">
      <span />
    </Page>
  );
}
