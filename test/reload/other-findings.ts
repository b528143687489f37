import type { File } from './config-dir.ts'
import type { Finding } from './schema-findings.ts'
import { pathText, Verbatim, WrittenYaml, type Path } from './written-yaml.ts'

/** Findings that no schema knows: names of things that are not there, values at odds, and broken syntax. */
export function otherMistakes(documents: Readonly<Record<File, unknown>>): Finding[] {
  const put = (file: File, kind: string, path: Path, value: unknown, message: RegExp): Finding => {
    const document = structuredClone(documents[file]) as Record<string | number, unknown>
    const holder = path
      .slice(0, -1)
      .reduce((at, step) => at[step] as Record<string | number, unknown>, document)
    holder[path.at(-1)!] = value
    const yaml = new WrittenYaml(document)
    return { file, kind, text: yaml.text, path: pathText(path), place: yaml.value(path), message }
  }
  const append = (file: File, kind: string, line: string, path: string, message: RegExp): Finding => {
    const yaml = new WrittenYaml(documents[file])
    return { file, kind, text: `${yaml.text}${line}\n`, path, place: yaml.end, message }
  }
  const route = (...path: Path): Path => ['routes', 0, ...path]
  const rule = (...path: Path): Path => ['families', 'evm', ...path]
  const missing = new Verbatim('${NO_SUCH_VARIABLE}')
  const twice = /^duplicate key$/
  return [
    append('networks.yaml', 'duplicate key', 'baseUrl: http://x.test', 'baseUrl', twice),
    append('routes.yaml', 'duplicate key', 'routes: []', 'routes', twice),
    append('methods.yaml', 'duplicate key', 'families: {}', 'families', twice),
    append('plans.yaml', 'duplicate key', 'plans: {}', 'plans', twice),
    append('gateway.yaml', 'duplicate key', 'listen: 127.0.0.1:1', 'listen', twice),
    append('networks.yaml', 'syntax', '}', '', /nothing of this kind can stand here|YAML/),
    append('routes.yaml', 'syntax', '\t- id: x', '', /tab|YAML/),
    append('methods.yaml', 'syntax', '@', '', /YAML/),
    append('plans.yaml', 'syntax', '--- {}', '', /a second document/),
    append('gateway.yaml', 'syntax', '%', '', /YAML/),
    put('routes.yaml', 'dangling', route('network'), 'alhpa', /is not a network in networks\.yaml/),
    put('routes.yaml', 'dangling', route('capabilities', 1), 'tracee', /is not a known capability/),
    put('routes.yaml', 'dangling', route('methods', 'deny', 0), 'eth_getLog', /is not a method of alpha/),
    put('routes.yaml', 'dangling', route('methods', 'allow', 1), 'erigon_*', /is not a method of alpha/),
    put(
      'routes.yaml',
      'dangling',
      [...route('errors'), 0, 'methods', 0],
      'eth_cal',
      /is not a method of alpha/,
    ),
    put('routes.yaml', 'twice', ['routes', 1, 'id'], 'alpha-a', /has the id "alpha-a" already/),
    put('routes.yaml', 'url', route('http'), 'ftp://127.0.0.1', /is not a URL with http/),
    put('routes.yaml', 'variable', route('ws'), missing, /has no NO_SUCH_VARIABLE/),
    put('routes.yaml', 'alias', route('weight'), new Verbatim('*weight'), /no anchor of this name/),
    put('methods.yaml', 'dangling', rule('debug_traceCall', 'tier'), 'paidd', /no plan offers the tier/),
    put('methods.yaml', 'cost', rule('eth_gasPrice', 'cost'), 31, /above the burst of plan public/),
    put('plans.yaml', 'dangling', ['plans', 'paid', 'tiers', 1], 'payed', /no rule has the tier/),
    put('networks.yaml', 'twice', ['networks', 'sol', 'subdomain'], 'alpha-rpc', /belongs to alpha already/),
    put('networks.yaml', 'family', ['networks', 'sol', 'chainId'], 5, /is not an identifier/),
    put('networks.yaml', 'url', ['baseUrl'], 'http://plain.example.test', /./),
    put('gateway.yaml', 'at odds', ['timeouts', 'headers'], '31s', /may not take longer/),
    put('gateway.yaml', 'range', ['trustedProxies', 0], '10.0.0.0/33', /is not an address range/),
    put('gateway.yaml', 'variable', ['log', 'level'], missing, /has no NO_SUCH_VARIABLE/),
  ]
}
