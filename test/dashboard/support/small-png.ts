import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** A colour, and how many pixels have it. */
type Counted = readonly [colour: number, count: number]

/** The picture of a PNG file with 8 bits a channel and no interlacing, in 256 colours: a third of the bytes. */
export function smallPng(file: Buffer): Buffer {
  const { width, height, channels, pixels } = decode(file)
  const colours = new Map<number, number>()
  const packed = new Uint32Array(width * height)
  for (let i = 0; i < packed.length; i++) {
    const at = i * channels
    // Five or six bits a channel are more than an eye tells apart in a screen of text.
    const colour = ((pixels[at]! & 0xfe) << 16) | ((pixels[at + 1]! & 0xfe) << 8) | (pixels[at + 2]! & 0xfe)
    packed[i] = colour
    colours.set(colour, (colours.get(colour) ?? 0) + 1)
  }
  const palette = paletteOf([...colours].sort(([, a], [, b]) => b - a))
  const nearest = new Map<number, number>()
  for (const colour of colours.keys()) nearest.set(colour, nearestOf(colour, palette))
  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = nearest.get(packed[y * width + x]!)!
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    file.subarray(0, 8),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap(([colour]) => parts(colour)))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The most frequent colours, and of the others those that would be missed most, such as the red of a single word. */
function paletteOf(colours: readonly Counted[]): Counted[] {
  const palette = colours.slice(0, 224)
  const others = colours.slice(224).map(([colour, count]) => ({
    colour,
    count,
    lost: distance(colour, palette[nearestOf(colour, palette)]![0]),
  }))
  while (palette.length < 256 && others.length > 0) {
    const most = others.reduce((one, other) =>
      other.count * other.lost > one.count * one.lost ? other : one,
    )
    palette.push([most.colour, most.count])
    for (const other of others) other.lost = Math.min(other.lost, distance(other.colour, most.colour))
  }
  return palette
}

function distance(one: number, other: number): number {
  const [a, b] = [parts(one), parts(other)]
  return a.reduce((sum, channel, i) => sum + (channel - b[i]!) ** 2, 0)
}

const parts = (colour: number): [number, number, number] => [
  (colour >> 16) & 255,
  (colour >> 8) & 255,
  colour & 255,
]

function nearestOf(colour: number, palette: readonly Counted[]): number {
  let best = 0
  let least = Infinity
  for (const [i, [other]] of palette.entries()) {
    const far = distance(colour, other)
    if (far < least) [best, least] = [i, far]
  }
  return best
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8 + body.length)
  frame.writeUInt32BE(data.length, 0)
  body.copy(frame, 4)
  frame.writeUInt32BE(crc32(body), 4 + body.length)
  return frame
}

function decode(file: Buffer): { width: number; height: number; channels: number; pixels: Buffer } {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  const channels = file[25] === 6 ? 4 : 3
  const data: Buffer[] = []
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)))
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * channels
  const pixels = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < channels ? 0 : pixels[at - channels]!
      const up = y === 0 ? 0 : pixels[at - stride]!
      const corner = x < channels || y === 0 ? 0 : pixels[at - stride - channels]!
      pixels[at] = raw[y * (stride + 1) + 1 + x]! + predict(filter, left, up, corner)
    }
  }
  return { width, height, channels, pixels }
}

/** What the filters of PNG (ISO 15948, section 9) expect a byte to be. */
function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const [toLeft, toUp, toCorner] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ]
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner
}
