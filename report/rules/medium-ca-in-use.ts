import { LAPTOP_SERVING_CA } from '../../lib/pki/authority.ts';
import { authorityPaths, mediumServingCa } from '../../lib/render/kubernetes/authorities.ts';
import type { Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { hostFiles } from '../reading/hosts.ts';
import { listAt, textAt } from '../reading/values.ts';

/** Hosts that this release installs make a CA of their own (`createAuthorities`). */
export const mediumCaInUse: Rule = {
  name: 'medium-ca-in-use',
  looksFor:
    'an installed host whose API server has a certificate of a CA whose key others may have: it was on the medium, the site volume or the Ignition config from which the host was made, or on a lost host',
  todo: 'Run "sno-certificates rotate-ca serving" on the host: everything keeps working. Then run "sno wait-for install-complete" on the laptop, which takes the new CA into auth/kubeconfig.',
  find(view) {
    return hostFiles(view, 'certificates/certificates.json').flatMap((path) => {
      const record = path.replace('certificates/certificates.json', 'agents/record.json');
      if (!view.paths().includes(record)) return [];
      const all = listAt(view.json(path));
      const at = (file: string) => all.find((entry) => textAt(entry, 'file') === file);
      const serving = at(authorityPaths('serving').certificate);
      const sha256 = textAt(serving, 'sha256');
      if (serving === undefined || sha256 === undefined) return [];
      const isOfLaptop = textAt(serving, 'subject') === `CN=${LAPTOP_SERVING_CA}`;
      const isOfLostHost = textAt(at(mediumServingCa), 'sha256') === sha256;
      if (!isOfLaptop && !isOfLostHost) return [];
      return [
        {
          severity: 'warning',
          title: 'The CA of the API server is one whose key was on a medium, or on a lost host',
          evidence: whereSaid(view, path, sha256),
        },
      ];
    });
  },
};
