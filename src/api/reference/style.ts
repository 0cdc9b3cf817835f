/** The look of the reference: one column to read, one to find the way; light or dark as the reader's system is. No other assets. */
export const STYLE = `
:root{color-scheme:light dark;
--paper:#fbfbf9;--ink:#1c2126;--soft:#5b6570;--line:#e3e4de;--raised:#ffffff;--sky:#0b5fa5;--sky-soft:#e8f1f8;
--get:#0b6b4f;--get-soft:#e3f3ec;--post:#8a4b08;--post-soft:#fbeede;--delete:#9c2f2f;--delete-soft:#fae8e8;--code:#f4f4ef;--s:#0b6b4f;--n:#8a3ba8;--k:#274c77;--warn:#9c2f2f;
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--paper:#13171b;--ink:#e4e7ea;--soft:#9aa5b0;--line:#2a3138;--raised:#191e23;--sky:#7cbcf0;--sky-soft:#172a3a;
--get:#6fd0aa;--get-soft:#142b24;--post:#e9b273;--post-soft:#302416;--delete:#f09a9a;--delete-soft:#331c1c;--code:#1a2026;--s:#8fd3b4;--n:#d0a3e6;--k:#8dbbe6;--warn:#f09a9a}}
*{box-sizing:border-box}
html{scroll-padding-top:1.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 var(--sans);text-rendering:optimizeLegibility}
a{color:var(--sky);text-decoration-thickness:1px;text-underline-offset:.2em}
a:focus-visible,pre:focus-visible,.wide:focus-visible,summary:focus-visible{outline:2px solid var(--sky);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--raised);padding:.5rem 1rem;z-index:2}
.page{display:grid;grid-template-columns:17rem minmax(0,1fr);max-width:84rem;margin:0 auto}
nav{position:sticky;top:0;align-self:start;height:100vh;overflow:auto;padding:2rem 1.25rem 2rem 1.75rem;border-right:1px solid var(--line);font-size:.9rem}
nav .brand{display:flex;align-items:center;gap:.6rem;font-weight:650;font-size:1.05rem;color:var(--ink);text-decoration:none;margin-bottom:1.5rem;letter-spacing:-.01em}
nav .brand svg{width:1.5rem;height:1.5rem;fill:var(--sky);flex:none}
nav h2{font-size:.72rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft);margin:1.5rem 0 .4rem;font-weight:600}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:flex;gap:.55rem;align-items:baseline;padding:.24rem .5rem;margin:0 -.5rem;border-radius:6px;color:var(--ink);text-decoration:none}
nav li a:hover{background:var(--sky-soft)}
main{padding:3rem clamp(1.25rem,4vw,4rem) 6rem;max-width:62rem}
h1{font-size:clamp(2rem,5vw,2.75rem);line-height:1.1;letter-spacing:-.025em;margin:0 0 1rem;font-weight:680}
.lead{font-size:1.15rem;color:var(--soft);max-width:40rem;margin:0 0 2rem}
section{padding-top:2.75rem;margin-top:2.75rem;border-top:1px solid var(--line)}
section h2{font-size:1.6rem;letter-spacing:-.018em;line-height:1.2;margin:0 0 .75rem;font-weight:650}
section h3{font-size:1rem;margin:2rem 0 .6rem;font-weight:650}
p,ul,ol{max-width:44rem}
p{margin:.6rem 0}
.route{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem;margin:0 0 1rem;font:.95rem var(--mono)}
.route code{background:none;border:0;padding:0;font-size:1em;overflow-wrap:anywhere}
.verb{font:600 .72rem/1 var(--mono);letter-spacing:.04em;padding:.32rem .5rem;border-radius:5px}
nav .verb{font-size:.6rem;padding:.2rem .3rem;min-width:2.5rem;text-align:center;flex:none}
.get{color:var(--get);background:var(--get-soft)}.post{color:var(--post);background:var(--post-soft)}.delete{color:var(--delete);background:var(--delete-soft)}
.tag{font-size:.78rem;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:.1rem .6rem;font-family:var(--sans)}
code{font:.86em var(--mono);background:var(--code);border:1px solid var(--line);border-radius:4px;padding:.08em .32em;overflow-wrap:break-word}
figure{margin:1rem 0;border:1px solid var(--line);border-radius:10px;overflow:hidden;background:var(--code)}
figcaption{font-size:.76rem;color:var(--soft);padding:.5rem 1rem;border-bottom:1px solid var(--line);background:var(--raised)}
pre{margin:0;padding:1rem;overflow:auto;font:.82rem/1.6 var(--mono);max-height:34rem;tab-size:2}
pre code{background:none;border:0;padding:0;font:inherit;overflow-wrap:normal}
.k{color:var(--k)}.s{color:var(--s)}.n{color:var(--n)}.c{color:var(--soft)}
.wide{overflow-x:auto;margin:.5rem 0 1rem;border:1px solid var(--line);border-radius:10px;background:var(--raised)}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{text-align:left;font-size:.74rem;letter-spacing:.04em;text-transform:uppercase;color:var(--soft);font-weight:600;padding:.6rem 1rem;border-bottom:1px solid var(--line);white-space:nowrap}
td{padding:.65rem 1rem;vertical-align:top;border-bottom:1px solid var(--line)}
tr:last-child td{border-bottom:0}
tr:target td{background:var(--sky-soft)}
td:first-child{white-space:nowrap}
td .type{display:block;color:var(--soft);font-size:.8rem;margin-top:.15rem;white-space:normal;max-width:13rem}
td .rule{display:block;color:var(--soft);font-size:.84rem;margin-top:.2rem}
.must{color:var(--warn);font-size:.75rem;font-weight:600;margin-left:.4rem;white-space:nowrap}
details{margin:1rem 0}
summary{cursor:pointer;font-weight:600;font-size:.95rem;padding:.3rem 0}
.codes{display:flex;flex-wrap:wrap;gap:.45rem;list-style:none;padding:0;margin:.5rem 0;max-width:none}
.codes a{display:inline-flex;gap:.45rem;align-items:center;text-decoration:none;font:.8rem var(--mono);border:1px solid var(--line);border-radius:99px;padding:.18rem .7rem;background:var(--raised);color:var(--ink)}
.codes a:hover{border-color:var(--sky)}.codes b{color:var(--soft);font-weight:500}
.formula{font:1rem/1.5 var(--mono);background:var(--sky-soft);border-radius:10px;padding:1rem 1.25rem;margin:1rem 0;overflow-x:auto}
footer{margin-top:4rem;color:var(--soft);font-size:.85rem}
@media (max-width:56rem){
.page{display:block}
nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line);padding:1.25rem}
nav .brand{margin-bottom:.25rem}
nav h2{margin:1rem 0 .3rem}
nav ul{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem}
main{padding-top:2rem}
section{padding-top:2rem;margin-top:2rem}
td,th{padding:.55rem .75rem}
td{min-width:9rem}
}
@media print{nav{display:none}.page{display:block}pre{max-height:none;white-space:pre-wrap}}
`
