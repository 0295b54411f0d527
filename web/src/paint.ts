// Charts drawn once more for a picture that is finer than the screen.

import { ticks } from "./axis";
import { DASHES, type Style } from "./lines";
import { css } from "./palette";
import { type Range } from "./types";

const LEFT = 54; // px for the numbers
const TITLE = 17;
const FOOT = 16;

/** What is in a chart now. */
export interface Drawn {
  title: string;
  entries: { text: string; style: Style }[];
  times: ArrayLike<number>;
  columns: { values: ArrayLike<number | null | undefined>; style: Style }[];
  range: Range; // of time
  span: Range; // of the values
  size: number; // of the unit that they are written in
  splits: number[]; // where the grid lies
}

export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

export function paintChart(brush: CanvasRenderingContext2D, chart: Drawn, time: number, at: Rectangle): void {
  const area = { left: at.left + LEFT, top: at.top + TITLE, width: at.width - LEFT - 10, height: at.height - TITLE - FOOT };
  const x = (t: number) => area.left + (area.width * (t - chart.range[0])) / (chart.range[1] - chart.range[0]);
  const y = (value: number) => area.top + (area.height * (chart.span[1] - value)) / (chart.span[1] - chart.span[0]);
  paintHead(brush, chart, at);
  const { texts, note } = ticks(chart.splits.map((x) => x / chart.size), (chart.splits.length > 1 ? chart.splits[1] - chart.splits[0] : 1) / chart.size);
  brush.font = "11px system-ui, sans-serif";
  brush.textAlign = "right";
  brush.strokeStyle = css("plot-grid");
  brush.setLineDash([]);
  brush.lineWidth = 1;
  chart.splits.forEach((value, i) => {
    brush.beginPath();
    brush.moveTo(area.left, y(value));
    brush.lineTo(area.left + area.width, y(value));
    brush.stroke();
    brush.fillStyle = css("text-dim");
    brush.fillText(texts[i], area.left - 5, y(value) + 4);
  });
  brush.textAlign = "left";
  if (note) brush.fillText(note, area.left + 2, area.top + 8);
  brush.fillText(`${Number(chart.range[0].toPrecision(4))} s`, area.left, at.top + at.height - 4);
  brush.textAlign = "right";
  brush.fillText(`${Number(chart.range[1].toPrecision(4))} s`, area.left + area.width, at.top + at.height - 4);
  brush.textAlign = "left";
  brush.save();
  brush.beginPath();
  brush.rect(area.left, area.top, area.width, area.height);
  brush.clip();
  for (const { values, style } of chart.columns) paintLine(brush, chart.times, values, style, x, y);
  brush.setLineDash([]);
  brush.strokeStyle = css("cursor");
  brush.beginPath();
  brush.moveTo(x(time), area.top);
  brush.lineTo(x(time), area.top + area.height);
  brush.stroke();
  brush.restore();
}

function paintHead(brush: CanvasRenderingContext2D, { title, entries }: Drawn, { left, top, width }: Rectangle): void {
  brush.fillStyle = css("text");
  brush.font = "600 12px system-ui, sans-serif";
  brush.fillText(title, left + 6, top + 12);
  let at = left + 16 + brush.measureText(title).width;
  brush.font = "12px system-ui, sans-serif";
  for (const { text, style } of entries) {
    const wide = 28 + brush.measureText(text).width;
    if (at + wide > left + width) return;
    brush.strokeStyle = css(style.color);
    brush.setLineDash(DASHES[style.dash]);
    brush.lineWidth = 2;
    brush.beginPath();
    brush.moveTo(at, top + 8);
    brush.lineTo(at + 18, top + 8);
    brush.stroke();
    brush.fillText(text, at + 22, top + 12);
    at += wide + 6;
  }
}

function paintLine(
  brush: CanvasRenderingContext2D,
  times: ArrayLike<number>,
  values: ArrayLike<number | null | undefined>,
  style: Style,
  x: (time: number) => number,
  y: (value: number) => number,
): void {
  brush.strokeStyle = css(style.color);
  brush.setLineDash(DASHES[style.dash]);
  brush.lineWidth = 1.5;
  brush.beginPath();
  let down = false;
  for (let i = 0; i < times.length; i++) {
    const value = values[i];
    if (value === undefined) continue; // another run has a sample here
    if (value === null) down = false;
    else if (down) brush.lineTo(x(times[i]), y(value));
    else {
      brush.moveTo(x(times[i]), y(value));
      down = true;
    }
  }
  brush.stroke();
}
