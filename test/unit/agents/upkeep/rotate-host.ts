import type { Test } from 'tap';
import { runCertificates } from '../../../../agents/upkeep/certificates/main.ts';
import { addRotations } from '../../../../agents/upkeep/rotate/commands.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import { rendered, servingPair } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { apiOf } from './earlier-authority.ts';

export const REQUEST = '/var/lib/sno-agents/sno-rotate/request.json';

/** The API of a cluster without workers. */
const alone = async (t: Test): Promise<HostEndpoints> => ({
  api: (await apiOf(t, servingPair, { 'GET /api/v1/nodes': listOf() })).url,
});

/** An installed host whose systemd starts the unit; by default in a cluster without workers. */
export async function installed(t: Test, endpoints?: HostEndpoints) {
  const host = testHost(t, { endpoints: endpoints ?? (await alone(t)) });
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.programs.give('systemctl', 'exit 0');
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const printing = async (seen: (text: string) => void, ...args: string[]) => {
    const printed: string[] = [];
    const code = await runCertificates(host.paths, args, addRotations, {
      write: (text) => {
        printed.push(text);
        seen(text);
      },
      isJournal: false,
    });
    return { code, printed: printed.join(''), errors: errors.join('') };
  };
  const run = (...args: string[]) => printing(() => {}, ...args);
  return { host, run, printing };
}
