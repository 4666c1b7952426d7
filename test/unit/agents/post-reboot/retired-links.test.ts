import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { retire } from '../../../../agents/post-reboot/retire.ts';
import { retireAgent } from '../../../../agents/steps/retire.ts';
import { agentLinks } from '../../../../lib/engine/agents/links.ts';
import { AGENTS, type AgentName } from '../../../../lib/engine/agents/table.ts';
import { gatherLinks } from '../../../../units/gather.ts';
import { testHost } from '../host/host.ts';

/** The last step of each host, its own unit, and the agents that are removed with it. */
const CASES: readonly {
  readonly retire: ReturnType<typeof retireAgent>;
  readonly unit: string;
  readonly gone: readonly AgentName[];
}[] = [
  { retire, unit: 'bootkube.service', gone: ['progress', 'sno-restore', 'post-reboot'] },
  { retire: retireAgent('aiokube'), unit: 'aiokube.service', gone: ['progress', 'aiokube'] },
];
const STAYING = [
  ...agentLinks([
    ...([
      'sno-payload',
      'sno-certificates',
      'sno-renew',
      'sno-backup',
      'sno-backup-push',
      'sno-backup-restore',
      'sno-rotate',
      'sno-identity',
      'sno-address',
      'sno-trial',
      'sno-update',
      'reconfigure',
    ] as const),
    'sno-deferred',
  ]),
  ...gatherLinks,
].map(({ path }) => path);

for (const { retire, unit, gone } of CASES) {
  t.test(`${unit}: links and state of finished agents are deleted, others are kept`, async (t) => {
    const host = testHost(t);
    host.programs.give('systemctl', 'exit 0');
    const all = [...agentLinks(AGENTS.map(({ name }) => name)), ...gatherLinks];
    for (const { path, target } of new Map(all.map((link) => [link.path, link])).values()) {
      host.write(`${path}.keep`);
      symlinkSync(target, host.at(path));
    }
    host.write(`/etc/systemd/system/${unit}`);
    for (const name of gone) host.write(join('/var/lib/sno-agents', name, 'journal.jsonl'));

    t.strictSame(await host.run(retire), { kind: 'done' });
    for (const { path } of agentLinks(gone)) t.notOk(host.has(path), path);
    for (const path of STAYING) t.ok(host.has(path), path);
    for (const name of gone) t.notOk(host.has(join('/var/lib/sno-agents', name)), name);
    t.notOk(host.has(`/etc/systemd/system/${unit}`));
    t.match(host.programs.calls(), [`systemctl disable --no-reload ${unit}`]);
  });
}
