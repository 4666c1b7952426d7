import type { Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { hostFiles } from '../reading/hosts.ts';
import { textAt, textsAt } from '../reading/values.ts';

/** The step `deployment` of sno-payload records it (agents/upkeep/payload/deployment.ts). */
export const earlierEtc: Rule = {
  name: 'earlier-etc',
  looksFor:
    'a rollback of the operating system that brought back an /etc from before something in /var changed: other CAs, another name of the cluster or of the host',
  todo: 'Boot the deployment from before again ("rpm-ostree rollback", or its entry in the boot menu), or restore a backup from before the change ("sno-backup list").',
  find: (view) =>
    hostFiles(view, 'agents/deployment.json').flatMap((path) => {
      const record = view.json(path);
      const files = textsAt(record, 'older', 'files');
      const [first] = files;
      if (first === undefined) return [];
      const booted = textAt(record, 'older', 'deployment');
      const last = textAt(record, 'deployment');
      return [
        {
          severity: 'failing',
          title: `The /etc of ${booted}, which has booted, is older than /var: ${files.join(', ')} changed since, in ${last}`,
          evidence: whereSaid(view, path, first),
        },
      ];
    }),
};
