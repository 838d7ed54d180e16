"""The look of the exported page: one style sheet, light and dark, for screens from 360 px up and for paper."""

from __future__ import annotations

STYLE = """
:root{--paper:#fbfaf7;--card:#fff;--ink:#1d1e23;--soft:#5d606b;--line:#e3e0d8;--code:#f4f2ec;--accent:#3d5a98;
--wash:#eef1f8;--ok:#1f7a4d;--bad:#b3372c;--busy:#8a6100;--addbg:#e3f4e6;--addhi:#b5e3bf;--delbg:#fbe9e7;--delhi:#f4c4be;
--mono:ui-monospace,"SF Mono","Cascadia Mono","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",sans-serif;
--serif:"Iowan Old Style","Charter","Source Serif 4",Georgia,"DejaVu Serif",serif;color-scheme:light}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#15171c;--card:#1b1e24;--ink:#e7e6e1;
--soft:#a0a3ad;--line:#2e323b;--code:#1f232a;--accent:#9db4ee;--wash:#20263a;--ok:#6fcf97;--bad:#f08a7e;--busy:#e0b354;
--addbg:#16301f;--addhi:#22562f;--delbg:#371c1c;--delhi:#6a2b28;color-scheme:dark}}
:root[data-theme=dark]{--paper:#15171c;--card:#1b1e24;--ink:#e7e6e1;--soft:#a0a3ad;--line:#2e323b;--code:#1f232a;
--accent:#9db4ee;--wash:#20263a;--ok:#6fcf97;--bad:#f08a7e;--busy:#e0b354;--addbg:#16301f;--addhi:#22562f;
--delbg:#371c1c;--delhi:#6a2b28;color-scheme:dark}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 var(--sans);overflow-wrap:anywhere}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.15em}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
code,pre{font-family:var(--mono);font-size:.86em}
pre{margin:0;white-space:pre-wrap;tab-size:4}
h1,h2,h3,p,dl,ul,ol{margin:0}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;z-index:9;background:var(--card);padding:.5rem 1rem}
.dim{color:var(--soft)}
.u{color:var(--bad);background:var(--delbg);border-radius:3px;font:.85em var(--mono)}
.top{max-width:80rem;margin:0 auto;padding:3.5rem 1.5rem 2rem}
.eyebrow{font-size:.75rem;letter-spacing:.14em;text-transform:uppercase;color:var(--accent);font-weight:600}
h1{font:600 clamp(1.55rem,4.4vw,2.5rem)/1.18 var(--serif);letter-spacing:-.012em;max-width:34ch;margin:.35rem 0 1.4rem;
text-wrap:balance}
.top dl{display:flex;flex-wrap:wrap;gap:.9rem 2.4rem;border-top:1px solid var(--line);padding-top:1.1rem}
dt{font-size:.75rem;color:var(--soft)}
dd{margin:0;font-variant-numeric:tabular-nums}
.notice{margin-top:1rem;padding:.7rem 1rem;border-radius:8px;background:var(--wash);max-width:52rem;font-size:.94rem}
.notice.bad{background:var(--delbg);border-left:3px solid var(--bad)}
.notice ul{padding-left:1.2rem}
.page{display:grid;grid-template-columns:16.5rem minmax(0,1fr);gap:3rem;max-width:80rem;margin:0 auto;
padding:0 1.5rem 5rem}
.side{position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;padding:1rem .25rem 2rem;font-size:.88rem;
scrollbar-width:thin}
.tools input,#filter{width:100%;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:.5rem .75rem}
#found{min-height:1.4em;font-size:.8rem;color:var(--soft);padding:.15rem .1rem}
.buttons{display:flex;flex-wrap:wrap;gap:.4rem;margin-bottom:1.2rem}
button{font:inherit;font-size:.82rem;color:var(--ink);background:var(--card);border:1px solid var(--line);
border-radius:7px;padding:.28rem .65rem;cursor:pointer}
button:hover{border-color:var(--accent)}
button[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--paper)}
.toc>summary{display:none}
.small{font:600 .75rem/1.4 var(--sans);color:var(--soft);margin:1.2rem 0 .3rem}
.small a{color:inherit;text-decoration:none}
.side ol,.side ul{list-style:none;padding:0}
.side ol{counter-reset:t}
.side li{display:flex;align-items:baseline;gap:.35rem;border-radius:6px}
.side ol li::before{counter-increment:t;content:counter(t);color:var(--soft);font-size:.75rem;min-width:1.3rem;
text-align:right;font-variant-numeric:tabular-nums}
.side li a{flex:1;min-width:0;color:inherit;text-decoration:none;padding:.2rem .35rem;overflow:hidden;
text-overflow:ellipsis;white-space:nowrap;border-radius:6px}
.side li a:hover{background:var(--wash)}
.side small{color:var(--soft)}
.side li[hidden]{display:none}
#filter{margin:.2rem 0 .4rem}
.dot{width:.5rem;height:.5rem;border-radius:50%;background:var(--busy);flex:none;align-self:center;margin-right:.3rem}
.dot.bad{background:var(--bad)}
.turn{padding-bottom:2.2rem;margin-bottom:2.2rem;border-bottom:1px solid var(--line)}
.turn>header{margin-bottom:1.1rem}
h2{font:600 1.2rem/1.35 var(--serif)}
.turn h2{display:flex;gap:.7rem;align-items:baseline}
.no{font:600 .8rem/1 var(--sans);color:var(--accent);font-variant-numeric:tabular-nums;min-width:1.1rem}
.facts{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:center;font-size:.82rem;color:var(--soft);
margin:.35rem 0 0 1.8rem}
.badge{font-size:.75rem;font-weight:600;color:var(--busy);white-space:nowrap}
.badge.ok{color:var(--ok)}
.badge.bad{color:var(--bad)}
.chunk{content-visibility:auto;contain-intrinsic-size:auto 30rem}
.c2{contain-intrinsic-size:auto 60rem}.c3{contain-intrinsic-size:auto 90rem}.c4{contain-intrinsic-size:auto 120rem}
.c5{contain-intrinsic-size:auto 150rem}
.item{margin:.35rem 0}
.item.user,.item.agent,.item.plan{margin:1.1rem 0}
.item.user{background:var(--wash);border-radius:12px;padding:.9rem 1.15rem}
.item.plan{border-left:3px solid var(--accent);padding-left:1.1rem}
.who{font-size:.75rem;font-weight:600;color:var(--soft);margin-bottom:.2rem}
.user .who{color:var(--accent)}
.prose{max-width:72ch}
.prose>*+*{margin-top:.7rem}
.prose .h{font-weight:650;line-height:1.35;margin-top:1.1rem}
.prose .h1{font-size:1.18rem}
.prose .h2{font-size:1.1rem}
.prose ul,.prose ol{padding-left:1.4rem}
.prose li+li{margin-top:.2rem}
.prose .l1{margin-left:1.3rem}.prose .l2{margin-left:2.6rem}.prose .l3{margin-left:3.9rem}.prose .l4{margin-left:5.2rem}
.prose code{background:var(--code);padding:.1em .32em;border-radius:4px}
.prose pre{background:var(--code);padding:.8rem 1rem;border-radius:8px;max-height:32rem;overflow:auto}
.prose pre.rows,.prose pre.code{white-space:pre;overflow-x:auto}
.prose pre code{background:none;padding:0;font-size:1em}
.prose .plain{white-space:pre-wrap}
.prose img{max-width:100%;max-height:30rem;border-radius:8px;display:block}
blockquote{margin:0;padding-left:.9rem;border-left:2px solid var(--line);color:var(--soft)}
.chip{display:inline-block;font-size:.84rem;background:var(--card);border:1px solid var(--line);border-radius:6px;
padding:.1rem .5rem}
.row>summary,.flat{list-style:none;display:flex;flex-wrap:nowrap;gap:.6rem;align-items:baseline;padding:.32rem .6rem;
border-radius:7px;cursor:pointer;font-size:.9rem;min-width:0}
.flat{cursor:default}
.row>summary::-webkit-details-marker{display:none}
.row>summary::before{content:"";flex:none;width:.42rem;height:.42rem;border:solid var(--soft);
border-width:0 1.5px 1.5px 0;transform:rotate(-45deg) translate(-.05rem,-.05rem);transition:transform .12s}
.row[open]>summary::before{transform:rotate(45deg) translate(-.1rem,-.1rem)}
.row>summary:hover{background:var(--code)}
.what{font-size:.82rem;font-weight:600;color:var(--soft);white-space:nowrap;max-width:60%;overflow:hidden;
text-overflow:ellipsis;flex:none}
.cmd,.path{flex:0 1 auto;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.path{direction:ltr}
.row[open]>summary .cmd,.row[open]>summary .path{white-space:normal}
.row>summary .dim{font-size:.8rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;min-width:0}
.row>:not(summary){margin:.3rem 0 .5rem 1.65rem}
.run .cmd{color:var(--ink)}
.command summary .cmd::before{content:"$ ";color:var(--soft)}
.row>summary .took{flex:none}
.side nav:last-child{margin-top:1rem}
.shell,.out,.diff{background:var(--code);border-radius:8px;padding:.7rem .9rem;max-height:34rem;overflow:auto}
.shell{border-left:3px solid var(--accent)}
.diff{white-space:pre}
.label{font-size:.78rem;color:var(--soft);font-weight:600}
.row>.label{margin-bottom:-.1rem}
.key{color:var(--accent)}
.note,.cut{font-size:.84rem;color:var(--soft)}
.cut{color:var(--bad);margin-left:1.65rem}
.rule{display:flex;align-items:center;gap:1rem;color:var(--soft);font-size:.82rem;margin:1.2rem 0}
.rule::before,.rule::after{content:"";flex:1;border-top:1px dashed var(--line)}
.count{font:.8rem var(--mono);white-space:nowrap;margin-left:auto}
.count b{color:var(--ok);font-weight:600}
.count i{color:var(--bad);font-style:normal;font-weight:600}
.changed{margin-top:1.2rem;background:var(--card);border:1px solid var(--line);border-radius:12px;padding:.8rem 1rem}
h3{font-size:.85rem;font-weight:600;margin-bottom:.3rem}
.changed ul,.files ul{list-style:none;padding:0}
.files li{content-visibility:auto;contain-intrinsic-size:auto 2.2rem}
.files,.timeline,.proof{margin-top:3rem}
.files h2,.timeline h2,.proof h2{margin-bottom:.5rem}
.d{width:100%;border-collapse:collapse;font:.8rem/1.5 var(--mono);table-layout:fixed}
.d td{padding:0 .5rem;vertical-align:top;white-space:pre-wrap}
.d .n{width:3.6rem;text-align:right;color:var(--soft);user-select:none;font-variant-numeric:tabular-nums}
.d .a{background:var(--addbg)}
.d .r{background:var(--delbg)}
.d .a::before{content:"+";position:absolute;margin-left:-.55rem;color:var(--ok)}
.d .r::before{content:"−";position:absolute;margin-left:-.55rem;color:var(--bad)}
.d .a mark{background:var(--addhi);color:inherit;border-radius:2px}
.d .r mark{background:var(--delhi);color:inherit;border-radius:2px}
.d .g td{color:var(--soft);background:var(--wash);padding:.15rem .7rem}
.d .e{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--line) 5px 6px)}
.d td.c,.d td.a,.d td.r{padding-left:1rem;position:relative}
.holder{background:var(--card);border:1px solid var(--line);border-radius:8px;max-height:40rem;overflow:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.timeline table{width:100%;font-size:.86rem;min-width:38rem}
.timeline th,.timeline td{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line);
font-weight:400;white-space:nowrap}
.timeline thead th{color:var(--soft);font-size:.75rem;font-weight:600}
.timeline svg{width:8rem;height:.4rem;display:block}
rect{fill:var(--accent)}
rect.bad{fill:var(--bad)}
.proof p{max-width:72ch}
.proof details{margin-top:.4rem}
.gaps{padding-left:1.2rem;font-size:.9rem}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.84rem;color:var(--soft)}
.empty{color:var(--soft);padding:2rem 0}
.bold{font-weight:700}
.t-red{color:var(--bad)}.t-green{color:var(--ok)}.t-yellow{color:var(--busy)}.t-blue,.t-cyan{color:var(--accent)}
.t-magenta{color:#a3559b}.t-black,.t-white{color:var(--soft)}
::highlight(found){background:#ffd84d;color:#1d1e23}
@media (max-width:60rem){.page{display:block;padding:0 1rem 4rem}.top{padding:2rem 1rem 1.2rem}
.side{position:static;max-height:none;padding:0 0 1rem}
.toc>summary{display:block;font-weight:600;padding:.5rem 0;border-block:1px solid var(--line);cursor:pointer}
.facts{margin-left:0}.turn h2{gap:.45rem}.item.user{padding:.8rem .9rem}.row>:not(summary){margin-left:0}
.top dl{gap:.7rem 1.6rem}.row>summary{padding:.32rem .2rem;gap:.45rem}.changed{padding:.7rem}
.d .n{width:2.6rem;padding:0 .3rem}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}.row>summary::before{transition:none}}
@media print{:root,:root[data-theme=dark]{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--code:#f5f5f5;
--wash:#f0f2f8;--accent:#26407a;--ok:#0b5d33;--bad:#98241b;--addbg:#e6f5e9;--delbg:#fbe9e7;--addhi:#bfe6c7;--delhi:#f1c3bd;
color-scheme:light}body{font-size:10pt}.side,.skip{display:none}.page{display:block;padding:0;max-width:none}
.top{padding:0 0 1rem;max-width:none}.chunk,.files li{content-visibility:visible}.turn{break-inside:auto}
h2,h3,.turn>header{break-after:avoid}.item.user,.row>summary{break-inside:avoid}
.shell,.out,.diff,.holder,.prose pre{max-height:none;overflow:visible;white-space:pre-wrap}
.row>summary::before{display:none}.timeline table{min-width:0}.scroll{overflow:visible}a{color:inherit}
@page{margin:16mm 14mm}}
"""
