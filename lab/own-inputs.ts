import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataUrl } from '../lib/render/ignition/data-url.ts';
import type { AgentSettings } from './agent-settings.ts';

/** What the person who installs the lab's hosts adds to each of them. */
export const OWN_FILE = { path: '/etc/shop/till.conf', mode: 0o640, contents: 'till = 1\n' };
export const OWN_UNIT = 'shop-till.service';
/** By a drop-in for a unit of the project. */
export const OWN_NICE = '-3';

const config = {
  ignition: { version: '3.2.0' },
  storage: {
    files: [{ ...OWN_FILE, contents: dataUrl(OWN_FILE.contents, { gzip: false }) }],
  },
  systemd: {
    units: [
      {
        name: OWN_UNIT,
        enabled: true,
        contents:
          '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n',
      },
      {
        name: 'kubelet.service',
        dropins: [{ name: '50-shop.conf', contents: `[Service]\nNice=${OWN_NICE}\n` }],
      },
    ],
  },
};

/** Arguments of `sno create` for that, and for settings of the agents. Writes own.ign to the folder. */
export async function ownArguments(folder: string, settings: AgentSettings): Promise<string[]> {
  const path = join(folder, 'own.ign');
  await writeFile(path, JSON.stringify(config));
  const set = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  return ['--ignition', path, ...set];
}
