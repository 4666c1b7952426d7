import type { BundleView, Rule } from '../bundle-view.ts';
import { evidence } from '../reading/evidence.ts';
import { type BundleHost, installedHosts } from '../reading/hosts.ts';
import { unitsOf } from '../reading/units.ts';
import { textAt } from '../reading/values.ts';

/** Loaded before each start of the kubelet (lib/render/kubernetes/pod-egress.ts). */
const TABLE = /^table inet sno-pods\b/;
const CUT = /^\(the rest was left out\)/;

export const podEgressMissing: Rule = {
  name: 'pod-egress-missing',
  looksFor:
    'a host of the Kubernetes payload whose kubelet runs, while nftables does not have the table sno-pods, or nothing in it: pods then reach nothing outside the host',
  todo: 'Run "nft --file /etc/sno-agents/pod-egress.nft". Find out what deleted the table, since it will again: "systemctl status firewalld nftables", or a program that runs "nft flush ruleset".',
  find: (view) =>
    installedHosts(view).flatMap((host) => {
      const path = `${host.folder}network/firewall.txt`;
      if (!view.paths().includes(path) || !needsTable(view, host)) return [];
      const all = view.lines(path);
      if (all.some((line) => CUT.test(line))) return [];
      const from = all.findIndex((line) => TABLE.test(line));
      const to = all.findIndex((line, index) => index > from && /^}/.test(line));
      const table = from < 0 ? [] : all.slice(from, to < 0 ? undefined : to);
      if (table.some((line) => /\bmasquerade\b/.test(line))) return [];
      const what = from < 0 ? 'nftables has no table sno-pods' : 'its table sno-pods is empty';
      return [
        {
          severity: 'failing',
          title: `Pods reach nothing outside the host: ${what}`,
          evidence: all
            .slice(Math.max(from, 0))
            .flatMap((line, index) =>
              line.trim() === '' ? [] : [evidence(path, Math.max(from, 0) + index + 1, line)],
            )
            .slice(0, 1),
        },
      ];
    }),
};

const needsTable = (view: BundleView, host: BundleHost): boolean =>
  textAt(view.json(`${host.folder}agents/cluster.json`), 'controlPlane') === 'kubernetes' &&
  unitsOf(view, host).get('kubelet.service')?.active === 'active';
