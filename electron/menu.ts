/** The few commands that people look for in a menu; on macOS copy and paste do not work without one. */
import { Menu, app } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';

export function setMenu(): void {
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
    ...(app.isPackaged
      ? []
      : ([
          { type: 'separator' },
          { role: 'reload' },
          { role: 'toggleDevTools' },
        ] satisfies MenuItemConstructorOptions[])),
  ];
  const menus: MenuItemConstructorOptions[] = [
    ...(process.platform === 'darwin' ? ([{ role: 'appMenu' }] satisfies MenuItemConstructorOptions[]) : []),
    { label: 'File', submenu: [{ role: process.platform === 'darwin' ? 'close' : 'quit' }] },
    { role: 'editMenu' },
    { label: 'View', submenu: view },
    { role: 'windowMenu' },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(menus));
}
