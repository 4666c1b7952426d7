import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { agentLinks } from '../../lib/engine/agents/links.ts';
import { agentsOf } from '../../lib/engine/agents/table.ts';
import { exists } from '../../lib/host/files.ts';
import type { ClusterCheck } from './check.ts';
import { privateKeysOn } from './private-keys.ts';

/** Folders in which a host stores what it was given. */
const FOLDERS = ['etc', 'var', 'root', 'home', 'opt', 'srv', 'boot', 'tmp'];

/** Searched from outside, independently of the agent's own search. */
export const nothingLeft: ClusterCheck = {
  name: 'no file of the ledger and no key of the bootstrap is left',
  run: async ({ host, carried: { ledger } }, signal) => {
    if (ledger.entries.length === 0 || ledger.goneKeys.length === 0) {
      throw new Failure('fatal', 'the ledger is empty: there is nothing to search for');
    }
    const left: string[] = [];
    for (const { path } of ledger.entries) {
      if (await exists(join(host.rootDir, path))) left.push(path);
    }
    const folders = [...agentsOf('pivot'), 'restore', 'live'].map((name) =>
      join('/var/lib/sno-agents', name),
    );
    const links = agentLinks(agentsOf('pivot')).map(({ path }) => path);
    for (const path of [...folders, ...links]) {
      if (await exists(join(host.rootDir, path))) left.push(path);
    }
    if (left.length > 0) throw new Failure('fatal', 'files are left', { found: left.join(', ') });
    const keys = await privateKeysOn(host, FOLDERS, signal);
    const known = keys.filter(({ fingerprint }) => ledger.goneKeys.includes(fingerprint));
    if (known.length > 0) {
      const found = known.map(({ path }) => path).join(', ');
      throw new Failure('fatal', 'keys of the bootstrap are left', { found });
    }
    // A search without any match would prove nothing: the CAs' keys remain.
    if (keys.length < 10) throw new Failure('fatal', 'the search found too few keys');
  },
};
