import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { outputText } from '../../../lib/host/program-output.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { command } from './command.ts';
import { dnsAnswers } from './dns.ts';
import { file, folder, linkedFile } from './file.ts';
import { made, madeJson } from './made.ts';
import { present } from './present.ts';

const json = { format: 'json' } as const;
/** There can be many rules; the first ones show how they are generated. */
const rules = { keep: 'oldest', limitBytes: 2 << 20 } as const;

/** Addresses, routes, sockets, rules and names, from the kernel, NetworkManager and the name servers. */
export const network: SourceGroup = {
  name: 'network',
  deadlineMs: 5000,
  async list(host) {
    const { at: onHost } = host.paths;
    const at = (name: string) => own(host, `network/${name}`);
    const sockets = (await isInstalled('netstat')) ? 'netstat' : 'ss';
    return [
      command(at('ip-addr.txt'), ['ip', 'addr']),
      command(at('ip-route.txt'), ['ip', 'route']),
      command(at('ip-addr.json'), ['ip', '-json', 'addr'], json),
      command(at('ip-route.json'), ['ip', '-json', 'route'], json),
      command(at('ip-6-route.json'), ['ip', '-6', '-json', 'route'], json),
      command(at('ip-6-route.txt'), ['ip', '-6', 'route']),
      command(at('ip-rule.txt'), ['ip', 'rule']),
      command(at('ip-neighbour.txt'), ['ip', 'neighbour']),
      command(at('ip-link.txt'), ['ip', '-statistics', '-details', 'link']),
      file(at('hostname.txt'), onHost('/proc/sys/kernel/hostname')),
      madeJson(at('dns.json'), dnsAnswers),
      made(at('proxy.txt'), proxyVariables),
      ...(await present([
        command(at('netstat.txt'), [sockets, '-anp'], rules),
        command(at('sockets.txt'), ['ss', '-s']),
        linkedFile(at('resolv.conf'), onHost('/etc/resolv.conf'), [onHost('/etc'), onHost('/run')]),
        file(at('hosts'), onHost('/etc/hosts')),
        command(at('nmstate.yaml'), ['nmstatectl', 'show']),
        command(at('nmcli.txt'), ['nmcli', 'device', 'show']),
        // Only the paths of the profiles: their contents include network passwords.
        command(at('nmcli-connections.txt'), [
          'nmcli',
          '--fields=NAME,UUID,TYPE,DEVICE,STATE,AUTOCONNECT,FILENAME',
          'connection',
          'show',
        ]),
        command(at('firewall.txt'), ['nft', '--numeric', 'list', 'ruleset'], rules),
        command(at('iptables.txt'), ['iptables-save'], rules),
        command(at('ip6tables.txt'), ['ip6tables-save'], rules),
        file(at('nodeip-hint.txt'), onHost('/etc/default/nodeip-configuration')),
        file(at('conntrack-count.txt'), onHost('/proc/sys/net/netfilter/nf_conntrack_count')),
        file(at('conntrack-max.txt'), onHost('/proc/sys/net/netfilter/nf_conntrack_max')),
      ])),
      ...((await isInstalled('sysctl')) ? [made(at('sysctl.txt'), networkSysctls)] : []),
      ...(await folder(at('nodeip'), onHost('/run/nodeip-configuration'))),
    ];
  },
};

/** Filtered, because some settings are keys. */
async function networkSysctls(_: GatherHost, signal: AbortSignal): Promise<string> {
  const call = ['sysctl', '--all', '--ignore', '--pattern', '^net[.]'] as const;
  const lines = (await outputText(call, signal, { accepts: [0, 1, 255] })).split('\n');
  return lines.filter((line) => !/^[^=]*(secret|key)/.test(line)).join('\n');
}

/** Files that set proxy variables: of this project, OpenShift and the system. */
const proxyFiles = ({ at }: HostPaths) => [
  at('/etc/sno-agents/proxy.env'),
  at('/etc/mco/proxy.env'),
  at('/etc/environment'),
  at('/etc/systemd/system.conf.d/10-default-env.conf'),
];

/** Each proxy variable with its file, without user names and passwords. */
async function proxyVariables({ paths }: GatherHost): Promise<string> {
  const lines = await Promise.all(
    proxyFiles(paths).map(async (place) =>
      ((await readTextIfPresent(place)) ?? '')
        .split('\n')
        .filter((line) => /proxy/i.test(line) && !line.startsWith('#'))
        .map((line) => `${place}: ${withoutUser(line)}\n`),
    ),
  );
  return lines.flat().join('');
}

/** Up to the last `@`: a password may contain one. */
const withoutUser = (line: string) => line.replaceAll(/:\/\/\S*@/g, '://<redacted>@');
